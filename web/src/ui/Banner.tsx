// One line across the page about something that is not as it should be.

import { CircleAlert, Info } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "./cn";

type Props = { tone?: "info" | "warning" | "error"; children: ReactNode; action?: ReactNode };

const tones = { info: "text-ready", warning: "text-attention", error: "text-failed" };

export function Banner({ tone = "warning", children, action }: Props) {
  const Icon = tone === "info" ? Info : CircleAlert;
  return (
    <div
      role={tone === "error" ? "alert" : "status"}
      className="flex min-h-9 items-center gap-2 border-b border-line bg-raised px-4 py-1.5 text-sm"
    >
      <Icon className={cn("size-4 shrink-0", tones[tone])} aria-hidden />
      <div className="min-w-0 flex-1 break-words text-fg-2">{children}</div>
      {action}
    </div>
  );
}
