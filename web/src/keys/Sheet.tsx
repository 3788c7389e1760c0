// The list of all keys.

import { openOverlay, useOverlays } from "@/app/overlays";
import { Dialog } from "@/ui/Dialog";
import { Kbd } from "@/ui/Kbd";

const groups: [string, [string[], string][]][] = [
  [
    "Anywhere",
    [
      [["Ctrl", "K"], "Search and commands"],
      [["C"], "New task"],
      [["G", "B"], "Board"],
      [["G", "A"], "All batches"],
      [["G", "S"], "Settings"],
      [["A"], "Approve next"],
      [["?"], "This help"],
    ],
  ],
  [
    "Transcript",
    [
      [["/"], "Search the transcript"],
      [["N"], "Next match (Shift N: previous)"],
      [["F"], "Follow the output"],
      [["W"], "Wrap lines"],
      [["Home", "End"], "First and last line"],
    ],
  ],
  [
    "With a selection",
    [
      [["P"], "Execute Parallel"],
      [["Q"], "Execute Queue"],
      [["O"], "Options…"],
    ],
  ],
  [
    "Board",
    [
      [["/"], "Filter tasks"],
      [["↑", "↓"], "Card above, below (also K, J)"],
      [["←", "→"], "Previous, next column (also H, L)"],
      [["Enter"], "Open the task"],
      [["X"], "Select the card"],
      [["Shift", "↑ ↓"], "Select a range"],
      [["Ctrl", "A"], "Select the column"],
      [["Esc"], "Clear selection"],
      [["M"], "Move to another column"],
      [["Alt", "↑ ↓"], "Move the card up, down"],
      [["R"], "Run the task"],
    ],
  ],
];

export function Sheet() {
  const open = useOverlays((overlays) => overlays.sheet);
  return (
    <Dialog
      open={open}
      onOpenChange={(is) => openOverlay("sheet", is)}
      title="Keys"
      isText
      className="max-w-[640px]"
    >
      <div className="gap-6 sm:columns-2">
        {groups.map(([title, rows]) => (
          <section key={title} className="mb-6 break-inside-avoid">
            <h3 className="mb-2 text-xs font-semibold text-fg-3">{title}</h3>
            <dl className="space-y-1.5">
              {rows.map(([names, does]) => (
                <div key={does} className="flex items-center justify-between gap-3">
                  <dt className="text-fg-2">{does}</dt>
                  <dd className="flex shrink-0 gap-1">
                    {names.map((name) => (
                      <Kbd key={name}>{name}</Kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
