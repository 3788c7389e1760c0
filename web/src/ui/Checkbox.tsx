// The browser's own checkbox in our clothes; cheap enough for thousands of cards.

import { type ComponentProps, useEffect, useRef } from "react";
import { cn } from "./cn";

type Props = Omit<ComponentProps<"input">, "type"> & { indeterminate?: boolean };

export function Checkbox({ className, indeterminate = false, ...rest }: Props) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = indeterminate;
  }, [indeterminate]);
  return <input ref={box} type="checkbox" className={cn("tick", className)} {...rest} />;
}
