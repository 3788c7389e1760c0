// What a place says when nothing is in it, and what to do next.

import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

type Props = {
  icon: LucideIcon;
  title: string;
  /** Whether it stands in place of a whole page. */
  isPage?: boolean;
  children?: ReactNode;
  action?: ReactNode;
};

export function EmptyState({ icon: Icon, title, isPage = false, children, action }: Props) {
  const Title = isPage ? "h1" : "h2";
  return (
    <div className="mx-auto flex max-w-sm flex-col items-center gap-2 px-6 py-16 text-center">
      <Icon className="size-6 text-fg-3" aria-hidden />
      <Title className="text-base font-semibold">{title}</Title>
      {children ? <div className="text-sm text-fg-2">{children}</div> : null}
      {action ? <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div> : null}
    </div>
  );
}
