// What an agent is told of a task, the form that changes it, and the way to be rid of it.

import { useRouter } from "@tanstack/react-router";
import { Pencil, Trash2 } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useAct } from "@/actions/actions";
import { answered, api, type BoardTask } from "@/api/client";
import { boardAddress } from "@/app/Go";
import { isBusy } from "@/live/columns";
import { asked } from "@/live/order";
import { change } from "@/live/world";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { type Draft, TaskForm } from "./TaskForm";

export function Description({ task }: { task: BoardTask }) {
  const [isEditing, setEditing] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEditing = useRef(false);
  useEffect(() => {
    // The form had the focus, and is gone.
    if (!isEditing && wasEditing.current) edit.current?.focus();
    wasEditing.current = isEditing;
  }, [isEditing]);
  if (isEditing) return <Edit task={task} onDone={() => setEditing(false)} />;
  const why = isBusy(task) ? "This task is in a running batch" : undefined;
  return (
    <section aria-label="Description" className="min-w-0">
      {task.description ? (
        <p className="whitespace-pre-wrap text-base leading-6 text-fg [overflow-wrap:anywhere]">
          {task.description}
        </p>
      ) : (
        <p className="text-sm text-fg-3">The agent's prompt is only the title.</p>
      )}
      <div className="mt-4 flex gap-2">
        <Button ref={edit} size="small" disabled={isBusy(task)} title={why} onClick={() => setEditing(true)}>
          <Pencil aria-hidden /> Edit
        </Button>
        <Delete task={task} why={why} />
      </div>
    </section>
  );
}

/** What of a draft is another one than before. */
export function changesOf(task: BoardTask, draft: Draft): Partial<Draft> {
  const names = Object.keys(draft) as (keyof Draft)[];
  const isOther = (name: keyof Draft) => JSON.stringify(task[name] ?? "") !== JSON.stringify(draft[name]);
  return Object.fromEntries(names.filter(isOther).map((name) => [name, draft[name]]));
}

function Edit({ task, onDone }: { task: BoardTask; onDone: () => void }) {
  const around = useRef<HTMLDivElement>(null);
  useEffect(() => around.current?.querySelector<HTMLElement>("[data-first]")?.focus(), []);
  const save = async (draft: Draft) => {
    const changes = changesOf(task, draft);
    if (Object.keys(changes).length > 0) {
      await asked(
        () => answered(api.PATCH("/api/tasks/{id}", { params: { path: { id: task.id } }, body: changes })),
        (saved) => ({ type: "tasks", tasks: [saved] }),
      );
    }
    onDone();
  };
  return (
    <div ref={around} onKeyDown={(event) => event.key === "Escape" && onDone()}>
      <TaskForm task={task} action="Save" onSave={save}>
        <Button onClick={onDone}>Discard</Button>
      </TaskForm>
    </div>
  );
}

function Delete({ task, why }: { task: BoardTask; why: string | undefined }) {
  const router = useRouter();
  const [isAsking, setAsking] = useState(false);
  const { doing, act } = useAct();
  const remove = async () => {
    const isGone = await act("delete", async () => {
      await answered(api.DELETE("/api/tasks/{id}", { params: { path: { id: task.id } } }));
      return true;
    });
    if (!isGone) return;
    router.history.push(boardAddress());
    change({ type: "deleted", ids: [task.id] });
  };
  return (
    <>
      <Button
        size="small"
        look="danger"
        disabled={why !== undefined || doing !== null}
        title={why}
        onClick={() => setAsking(true)}
      >
        <Trash2 aria-hidden /> Delete
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title="Delete this task?"
        action="Delete"
        keep="Keep it"
        onConfirm={() => void remove()}
      >
        “{task.title}” leaves the board. Work that was done on it stays in its batches.
      </Confirm>
    </>
  );
}
