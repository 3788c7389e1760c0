// The form of a task, for a new one and for one that is there.

import { type FormEvent, type ReactNode, useCallback, useId, useState } from "react";
import type { BoardTask, TaskChanges } from "@/api/client";
import { Button } from "@/ui/Button";
import { ErrorLine } from "@/ui/ErrorLine";
import { TextArea, TextField } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { NeedsPicker } from "./NeedsPicker";

/** What a person says of a task. */
export type Draft = Required<{
  [Name in "title" | "description" | "priority" | "labels" | "size" | "dependsOn"]: NonNullable<
    TaskChanges[Name]
  >;
}>;

const nothing: Draft = {
  title: "",
  description: "",
  priority: "medium",
  labels: [],
  size: "",
  dependsOn: [],
};

function draftOf({ title, description, priority, labels, size, dependsOn }: Draft | BoardTask): Draft {
  return { title, description, priority, labels, size: size ?? "", dependsOn };
}

const priorities = [
  { value: "low", label: "Low" },
  { value: "medium", label: "Medium" },
  { value: "high", label: "High" },
  { value: "critical", label: "Critical" },
];

type Props = {
  /** The task that is changed; none for a new one. */
  task?: BoardTask;
  /** What the button says that saves. */
  action: string;
  onSave: (draft: Draft) => Promise<void>;
  /** What stands beside that button. */
  children?: ReactNode;
};

export function TaskForm({ task, action, onSave, children }: Props) {
  const [draft, setDraft] = useState(() => draftOf(task ?? nothing));
  const [labels, setLabels] = useState(draft.labels.join(", "));
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const plan = task?.plan ?? null;
  const allows = useCallback(
    (other: BoardTask) => other.id !== task?.id && (other.plan ?? null) === plan,
    [task?.id, plan],
  );
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }));
  const title = draft.title.trim();

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (title === "" || isBusy) return;
    setBusy(true);
    setError(null);
    try {
      await onSave({ ...draft, title, labels: wordsIn(labels) });
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form
      className="min-w-0 space-y-4"
      onSubmit={(event) => void save(event)}
      onKeyDown={(event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
      }}
    >
      <Row id={`${id}title`} label="Title">
        <TextField
          id={`${id}title`}
          data-first
          value={draft.title}
          maxLength={500}
          required
          autoComplete="off"
          onChange={(event) => set({ title: event.target.value })}
        />
      </Row>
      <Row id={`${id}details`} label="Details">
        <TextArea
          id={`${id}details`}
          value={draft.description}
          placeholder="The agent's prompt, besides the title"
          className="min-h-32"
          onChange={(event) => set({ description: event.target.value })}
        />
      </Row>
      <div className="grid gap-4 sm:grid-cols-2">
        <Row id={`${id}priority`} label="Priority">
          <Select
            id={`${id}priority`}
            className="w-full"
            options={priorities}
            value={draft.priority}
            onChange={(event) => set({ priority: event.target.value as Draft["priority"] })}
          />
        </Row>
        <Row id={`${id}labels`} label="Labels">
          <TextField
            id={`${id}labels`}
            value={labels}
            placeholder="backend, urgent"
            autoComplete="off"
            onChange={(event) => setLabels(event.target.value)}
          />
        </Row>
        <Row id={`${id}size`} label="Size on a cluster">
          <TextField
            id={`${id}size`}
            value={draft.size}
            placeholder="default"
            autoComplete="off"
            onChange={(event) => set({ size: event.target.value.trim() })}
          />
        </Row>
      </div>
      <Row id={`${id}needs`} label="Needs">
        <NeedsPicker
          id={`${id}needs`}
          value={draft.dependsOn}
          allows={allows}
          onChange={(dependsOn) => set({ dependsOn })}
        />
      </Row>
      <ErrorLine error={error} />
      <div className="flex flex-wrap justify-between gap-2">
        {children}
        <Button look="primary" type="submit" className="ml-auto" disabled={isBusy || title === ""}>
          {action}
        </Button>
      </div>
    </form>
  );
}

function Row({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children}
    </div>
  );
}

/** The words between commas, each once. */
function wordsIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((word) => word.trim())
        .filter(Boolean),
    ),
  ];
}
