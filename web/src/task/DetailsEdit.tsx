// What an agent is told of a task, and the form that changes it.

import { Pencil } from "lucide-react";
import { type FormEvent, useState } from "react";
import { answered, api, type BoardTask } from "@/api/client";
import { isBusy } from "@/board/columns";
import { putTask } from "@/live/world";
import { Button } from "@/ui/Button";
import { TextArea, TextField } from "@/ui/Field";
import { useAct } from "./queries";

export function Description({ task }: { task: BoardTask }) {
  const [isEditing, setEditing] = useState(false);
  if (isEditing) return <Form task={task} onDone={() => setEditing(false)} />;
  return (
    <section aria-label="Description" className="min-w-0">
      {task.description ? (
        <p className="whitespace-pre-wrap text-base leading-6 text-fg [overflow-wrap:anywhere]">{task.description}</p>
      ) : (
        <p className="text-sm text-fg-3">The title is all that its agent is told.</p>
      )}
      <Button size="small" className="mt-4" disabled={isBusy(task)} title={isBusy(task) ? "A batch has this task" : undefined} onClick={() => setEditing(true)}>
        <Pencil aria-hidden /> Edit
      </Button>
    </section>
  );
}

function Form({ task, onDone }: { task: BoardTask; onDone: () => void }) {
  const [title, setTitle] = useState(task.title);
  const [description, setDescription] = useState(task.description);
  const { doing, act } = useAct();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const saved = await act("save", () => answered(api.PATCH("/api/tasks/{id}", { params: { path: { id: task.id } }, body: { title: title.trim(), description } })));
    if (!saved) return;
    putTask(saved);
    onDone();
  };
  return (
    <form
      className="flex min-w-0 flex-col gap-3"
      onSubmit={(event) => void save(event)}
      onKeyDown={(event) => {
        if (event.key === "Escape") onDone();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void save(event);
      }}
    >
      <label className="flex flex-col gap-1 text-xs text-fg-2">
        Title
        <TextField value={title} maxLength={500} required autoFocus onChange={(event) => setTitle(event.target.value)} />
      </label>
      <label className="flex flex-col gap-1 text-xs text-fg-2">
        What its agent is told besides
        <TextArea className="min-h-60" value={description} onChange={(event) => setDescription(event.target.value)} />
      </label>
      <div className="flex gap-2">
        <Button type="submit" look="primary" disabled={doing !== null || title.trim() === ""}>
          Save
        </Button>
        <Button onClick={onDone}>Discard</Button>
      </div>
    </form>
  );
}
