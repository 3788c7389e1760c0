// Writes a new task.

import { type FormEvent, useId, useState } from "react";
import { toast } from "sonner";
import { answered, api, inWords } from "@/api/client";
import { putTask, useWorld } from "@/live/world";
import { openOverlay, useOverlays } from "@/shell/overlays";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { TextArea, TextField } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { ImportPicker } from "./ImportDrop";

const priorities = [
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
  { value: "critical", label: "Critical" },
];

export function NewTask() {
  const open = useOverlays((overlays) => overlays.newTask);
  return (
    <Dialog open={open} onOpenChange={(is) => openOverlay("newTask", is)} title="New task">
      <Form />
    </Dialog>
  );
}

function Form() {
  const project = useWorld((world) => world.project);
  const [title, setTitle] = useState("");
  const [description, setDescription] = useState("");
  const [priority, setPriority] = useState("medium");
  const [labels, setLabels] = useState("");
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const id = useId();

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!project || title.trim() === "") return;
    setIsBusy(true);
    try {
      const words = labels.split(",").map((label) => label.trim()).filter(Boolean);
      const task = await answered(
        api.POST("/api/tasks", {
          body: { projectId: project, title: title.trim(), description, labels: words, priority: priority as "medium" },
        }),
      );
      putTask(task);
      toast.success(`“${task.title}” is on the board`);
      openOverlay("newTask", false);
    } catch (failure) {
      setError(inWords(failure));
      setIsBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void save(event)} className="space-y-4">
      <div>
        <label htmlFor={`${id}title`} className="mb-1 block font-medium">
          Title
        </label>
        <TextField id={`${id}title`} data-first value={title} maxLength={500} required autoComplete="off" onChange={(event) => setTitle(event.target.value)} />
      </div>
      <div>
        <label htmlFor={`${id}details`} className="mb-1 block font-medium">
          Details
        </label>
        <TextArea
          id={`${id}details`}
          value={description}
          placeholder="What the agent is told besides the title"
          className="min-h-32"
          onChange={(event) => setDescription(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
          }}
        />
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        <div>
          <label htmlFor={`${id}priority`} className="mb-1 block font-medium">
            Priority
          </label>
          <Select id={`${id}priority`} className="w-full" options={priorities} value={priority} onChange={(event) => setPriority(event.target.value)} />
        </div>
        <div>
          <label htmlFor={`${id}labels`} className="mb-1 block font-medium">
            Labels
          </label>
          <TextField id={`${id}labels`} value={labels} placeholder="backend, urgent" autoComplete="off" onChange={(event) => setLabels(event.target.value)} />
        </div>
      </div>
      {error ? (
        <p role="alert" className="text-sm text-failed">
          {error}
        </p>
      ) : null}
      <div className="flex flex-wrap justify-between gap-2">
        <ImportPicker />
        <Button look="primary" type="submit" disabled={isBusy || title.trim() === "" || !project}>
          Add task
        </Button>
      </div>
    </form>
  );
}
