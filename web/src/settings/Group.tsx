// How the settings page is laid out: groups of rows.

import type { ReactNode } from "react";

export function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <div className="divide-y divide-line rounded-xl border border-line bg-surface">{children}</div>
    </section>
  );
}

type RowProps = { label: string; labelId: string; help: string; note?: string | null; children: ReactNode };

export function Row({ label, labelId, help, note, children }: RowProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 px-4 py-3">
      <div className="min-w-0 flex-1 basis-56">
        <div id={labelId} className="font-medium">
          {label}
        </div>
        <p id={`${labelId}help`} className="text-xs text-fg-2">
          {help}
        </p>
        {note ? <p className="mt-0.5 text-xs text-attention">{note}</p> : null}
      </div>
      {children}
    </div>
  );
}
