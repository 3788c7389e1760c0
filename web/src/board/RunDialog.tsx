// Asks how a batch is to run before it starts.

import { Play } from "lucide-react";
import { RadioGroup } from "radix-ui";
import { useId, useState } from "react";
import { NEEDS_GIT, startBatch, useStarting } from "@/actions/start";
import { type BatchOptions, inWords, type Where } from "@/api/client";
import { useAgents, useClusters, useSettings } from "@/api/queries";
import { openRun } from "@/app/overlays";
import { useProject } from "@/app/project";
import { Button } from "@/ui/Button";
import { cn } from "@/ui/cn";
import { Dialog } from "@/ui/Dialog";
import { TextArea } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { Slider } from "@/ui/Slider";
import { Foreseen } from "./Foreseen";
import { usePreview } from "./usePreview";

type Mode = "serial" | "queue" | "parallel";

const modes: { value: Mode; word: string; says: string }[] = [
  { value: "serial", word: "Serial", says: "One at a time, without approval" },
  { value: "queue", word: "Queue", says: "One at a time, each after your approval" },
  { value: "parallel", word: "Parallel", says: "Several at once, in dependency order" },
];

export function RunDialog({ tasks: ids }: { tasks: readonly string[] }) {
  const project = useProject();
  const needsGit = project !== undefined && !project.isRepository;
  const settings = useSettings(project?.id);
  const usual = settings.data?.maxBatchSize ?? 3;
  const { data: clusters = [] } = useClusters(project?.id);
  const { data: agents = [] } = useAgents(project?.id);
  const [mode, setMode] = useState<Mode>(needsGit ? "queue" : "parallel");
  const [most, setMost] = useState<number | null>(null);
  const [prompt, setPrompt] = useState("");
  const [agent, setAgent] = useState("");
  const [place, setPlace] = useState<Where | "">("");
  const [withDeps, setWithDeps] = useState(false);
  const isBusy = useStarting((starting) => starting.isBusy);
  const id = useId();

  const options: BatchOptions = { taskIds: [...ids], mode, withDeps };
  // What was not chosen here is as the settings say, "auto" included.
  if (mode === "parallel" && most !== null) options.maxConcurrent = most;
  if (agent) options.agent = agent;
  if (place) options.where = place;
  const { preview, error, isOld } = usePreview(options);
  const refusal = preview?.refusal;
  const isRefused = !isOld && refusal != null;
  const cannot = isBusy || isRefused || (mode === "parallel" && needsGit);

  const start = async () => {
    if (cannot) return;
    if (prompt.trim()) options.prompt = prompt;
    // Where it is refused, what was chosen and written stays.
    const isStarted = await startBatch(options);
    const { consent, push } = useStarting.getState();
    if (isStarted || consent || push) openRun(null);
  };

  return (
    <Dialog
      open
      onOpenChange={(open) => open || openRun(null)}
      title={ids.length === 1 ? "Run 1 task" : `Run ${ids.length} tasks`}
      description="Each task gets its own worktree. The results are woven into one branch and one pull request."
      footer={
        <>
          <Button disabled={isBusy} onClick={() => openRun(null)}>
            Cancel
          </Button>
          <Button data-first look="primary" disabled={cannot} onClick={() => void start()}>
            <Play aria-hidden /> Start batch
          </Button>
        </>
      }
    >
      <form
        className="space-y-5"
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
        }}
        onSubmit={(event) => event.preventDefault()}
      >
        <div>
          <p id={`${id}mode`} className="mb-1.5 font-medium">
            Mode
          </p>
          <ModeChoice labelledBy={`${id}mode`} mode={mode} needsGit={needsGit} onChange={setMode} />
        </div>
        {mode === "parallel" ? (
          <div className="flex items-center gap-4">
            <span id={`${id}most`} className="shrink-0 font-medium">
              Max concurrent
            </span>
            <Slider
              labelledBy={`${id}most`}
              value={most ?? (usual === "auto" ? 3 : Math.min(usual, 10))}
              min={1}
              max={10}
              onChange={setMost}
            />
            <output className="w-8 text-right">{most ?? usual}</output>
          </div>
        ) : null}
        <Choice
          id={`${id}where`}
          label="Where"
          value={place}
          listed={clusters.map((cluster) => ({ ...cluster, whyNot: cluster.reason }))}
          onChange={(name) => setPlace(name as Where | "")}
        />
        <Choice
          id={`${id}agent`}
          label="Agent"
          value={agent}
          listed={agents.map((each) => ({ ...each, whyNot: each.found ? null : "not installed" }))}
          onChange={setAgent}
        />
        <div>
          <label htmlFor={`${id}prompt`} className="mb-1.5 block font-medium">
            Prompt
          </label>
          <TextArea
            id={`${id}prompt`}
            value={prompt}
            placeholder="Added to the prompt of every task of this batch"
            onChange={(event) => setPrompt(event.target.value)}
          />
        </div>
        {error && !preview ? (
          <p className="text-xs text-fg-2">{inWords(error)}</p>
        ) : (
          <Foreseen preview={preview} isOld={isOld} onAdd={() => setWithDeps(true)} />
        )}
      </form>
    </Dialog>
  );
}

function ModeChoice({
  labelledBy,
  mode,
  needsGit,
  onChange,
}: {
  labelledBy: string;
  mode: Mode;
  needsGit: boolean;
  onChange: (mode: Mode) => void;
}) {
  return (
    <RadioGroup.Root
      aria-labelledby={labelledBy}
      value={mode}
      onValueChange={(value) => onChange(value as Mode)}
      className="grid gap-2 sm:grid-cols-3"
    >
      {modes.map(({ value, word, says }) => {
        const isOff = value === "parallel" && needsGit;
        return (
          <RadioGroup.Item
            key={value}
            value={value}
            disabled={isOff}
            aria-label={word}
            className={cn(
              "rounded-lg border border-line-strong bg-raised px-3 py-2 text-left disabled:opacity-60",
              "data-[state=checked]:border-accent-text data-[state=checked]:bg-accent-soft",
            )}
          >
            <span className="flex items-center gap-2 font-medium">
              <span className="grid size-3.5 place-items-center rounded-full border border-line-strong">
                <RadioGroup.Indicator className="size-2 rounded-full bg-accent-text" />
              </span>
              {word}
            </span>
            <span className="mt-0.5 block text-xs text-fg-2">{isOff ? NEEDS_GIT : says}</span>
          </RadioGroup.Item>
        );
      })}
    </RadioGroup.Root>
  );
}

type Listed = { name: string; title: string; isDefault: boolean; whyNot: string | null | undefined };

/** One of what the server lists; nothing where the settings choose. */
function Choice({
  id,
  label,
  value,
  listed,
  onChange,
}: {
  id: string;
  label: string;
  value: string;
  listed: Listed[];
  onChange: (name: string) => void;
}) {
  const usual = listed.find((each) => each.isDefault);
  const others = listed.filter((each) => !each.isDefault);
  const options = others.map(({ name, title, whyNot }) => ({
    value: name,
    label: whyNot ? `${title} (${whyNot})` : title,
    disabled: whyNot != null,
  }));
  return (
    <div>
      <label htmlFor={id} className="mb-1.5 block font-medium">
        {label}
      </label>
      <Select
        id={id}
        className="w-full"
        value={value}
        options={[{ value: "", label: usual ? `${usual.title} (default)` : "Default" }, ...options]}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
