// A button in its four looks and two sizes.

import { cva, type VariantProps } from "class-variance-authority";
import type { ComponentProps } from "react";
import { cn } from "./cn";

export const buttonLook = cva(
  "inline-flex shrink-0 select-none items-center justify-center gap-1.5 whitespace-nowrap rounded-md font-medium transition-colors disabled:cursor-not-allowed disabled:opacity-50 aria-disabled:cursor-not-allowed aria-disabled:opacity-50 touch:min-h-10 [&_svg]:size-3.5 [&_svg]:shrink-0",
  {
    variants: {
      look: {
        // What has no border shows one where colours are forced.
        primary: "border border-transparent bg-accent text-on-accent enabled:hover:bg-accent-hover",
        plain: "border border-line bg-raised text-fg enabled:hover:bg-hover",
        ghost:
          "border border-transparent text-fg-2 enabled:hover:bg-hover enabled:hover:text-fg aria-pressed:text-accent-text",
        danger: "border border-transparent text-failed enabled:hover:bg-del-bg",
      },
      size: {
        small: "h-7 px-2 text-xs",
        normal: "h-8 px-3 text-sm",
        icon: "size-7 text-xs touch:min-w-10",
      },
    },
    defaultVariants: { look: "plain", size: "normal" },
  },
);

export type ButtonProps = ComponentProps<"button"> & VariantProps<typeof buttonLook>;

export function Button({ className, look, size, type = "button", ...rest }: ButtonProps) {
  return <button type={type} className={cn(buttonLook({ look, size }), className)} {...rest} />;
}
