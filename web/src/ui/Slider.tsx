// A number between two others.

import { Slider as Radix } from "radix-ui";
import { cn } from "./cn";

type Props = {
  /** What it is called, for those who cannot see it; or the id of what calls it so. */
  label?: string;
  labelledBy?: string;
  describedBy?: string;
  value: number;
  min: number;
  max: number;
  disabled?: boolean;
  className?: string;
  onChange: (value: number) => void;
  /** Called when the person lets go. */
  onSettle?: (value: number) => void;
};

export function Slider({
  label,
  labelledBy,
  describedBy,
  value,
  min,
  max,
  disabled,
  className,
  onChange,
  onSettle,
}: Props) {
  return (
    <Radix.Root
      value={[value]}
      min={min}
      max={max}
      step={1}
      disabled={disabled}
      onValueChange={(values) => onChange(values[0] ?? value)}
      onValueCommit={(values) => onSettle?.(values[0] ?? value)}
      className={cn(
        "relative flex h-7 w-full touch-none select-none items-center data-[disabled]:opacity-50",
        className,
      )}
    >
      <Radix.Track className="relative h-1 grow rounded-full bg-line-strong">
        <Radix.Range className="absolute h-full rounded-full bg-accent" />
      </Radix.Track>
      <Radix.Thumb
        aria-label={label}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        className="block size-4 rounded-full border-2 border-accent bg-on-accent touch:size-6"
      />
    </Radix.Root>
  );
}
