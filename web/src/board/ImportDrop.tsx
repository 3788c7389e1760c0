// Takes a plan in Markdown that is dropped on the board, or chosen.

import { FileDown, Upload } from "lucide-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { answered, api, hintOf, inWords } from "@/api/client";
import { asked } from "@/live/order";
import { useWorld } from "@/live/world";
import { Button } from "@/ui/Button";
import { toast } from "@/visible/toast";

/** The largest plan that is sent; the server takes no more. */
const MOST_BYTES = 3_500_000;

async function importFile(file: File) {
  if (file.size > MOST_BYTES) toast.error(`${file.name} is too large for a plan`);
  else await importPlan(file.name, { markdown: await file.text() });
}

/** Takes in a plan: its text, or a file of the project, which is then kept in step with the board. */
export async function importPlan(name: string, plan: { markdown: string } | { path: string }) {
  const { project } = useWorld.getState();
  if (!project) return;
  try {
    const { tasks, warnings } = await asked(
      () => answered(api.POST("/api/tasks/import", { body: { projectId: project, ...plan } })),
      (imported) => ({ type: "tasks", tasks: imported.tasks }),
    );
    const count = tasks.length === 1 ? "1 task" : `${tasks.length} tasks`;
    toast.success(`${count} imported from ${name}`, {
      description:
        warnings.length > 0
          ? warnings
              .map((warning) => (warning.line ? `Line ${warning.line}: ${warning.message}` : warning.message))
              .join("\n")
          : undefined,
    });
  } catch (error) {
    toast.error(`Could not import ${name}`, {
      description: [inWords(error), hintOf(error)].filter(Boolean).join(" "),
    });
  }
}

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes("Files");

export function ImportDrop({ children }: { children: ReactNode }) {
  const [isOver, setIsOver] = useState(false);
  const depth = useRef(0);
  const enter = (event: DragEvent, by: 1 | -1) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current += by;
    setIsOver(depth.current > 0);
  };
  const drop = (event: DragEvent) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth.current = 0;
    setIsOver(false);
    for (const file of event.dataTransfer.files) void importFile(file);
  };
  return (
    <div
      className="relative h-full"
      onDragEnter={(event) => enter(event, 1)}
      onDragLeave={(event) => enter(event, -1)}
      onDragOver={(event) => hasFiles(event) && event.preventDefault()}
      onDrop={drop}
    >
      {children}
      {isOver ? (
        <div className="pointer-events-none absolute inset-3 z-30 grid place-items-center rounded-xl border-2 border-dashed border-accent-text bg-bg/85">
          <p className="flex items-center gap-2 text-base font-medium">
            <FileDown className="size-5 text-accent-text" aria-hidden /> Drop the plan to import its tasks
          </p>
        </div>
      ) : null}
    </div>
  );
}

export function ImportPicker() {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".md,.markdown,text/markdown,text/plain"
        className="hidden"
        aria-label="Plan file"
        onChange={(event) => {
          for (const file of event.target.files ?? []) void importFile(file);
          event.target.value = "";
        }}
      />
      <Button onClick={() => input.current?.click()}>
        <Upload aria-hidden /> Import a plan
      </Button>
    </>
  );
}
