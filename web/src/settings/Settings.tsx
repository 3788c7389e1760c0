// What batches do by default, saved at once.

import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import { type ReactNode, useEffect, useId, useState } from "react";
import { toast } from "sonner";
import { type AgentFound, inWords, type Settings as AllSettings, type SettingsChange } from "@/api/client";
import { useAgents, useSaveSettings, useSettings } from "@/api/queries";
import { useProject } from "@/shell/project";
import { useTheme, type Wish, wishFor } from "@/shell/theme";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { Slider } from "@/ui/Slider";
import { Switch } from "@/ui/Switch";

type Name = keyof AllSettings;
type Save = (change: SettingsChange) => void;

export function Settings() {
  const project = useProject();
  const { data, error, isPending } = useSettings(project?.id);
  const saving = useSaveSettings(project?.id);
  const save: Save = (change) =>
    saving.mutate(change, {
      onError: (failure) => toast.error("The setting was not saved", { description: inWords(failure) }),
    });
  return (
    <div className="mx-auto max-w-2xl px-4 py-6 sm:px-6">
      <h1 className="text-xl font-semibold">Settings</h1>
      <p className="mt-1 text-fg-2">Saved at once, for every batch that starts from now on.</p>
      {error ? <Banner tone="error">{inWords(error)}</Banner> : null}
      {isPending ? <Skeleton className="mt-6 h-64" /> : null}
      {data ? <BatchSettings settings={data} save={save} /> : null}
      <Appearance />
      <Agents project={project?.id} />
    </div>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-base font-semibold">{title}</h2>
      <div className="divide-y divide-line rounded-xl border border-line bg-surface">{children}</div>
    </section>
  );
}

type RowProps = { label: string; labelId: string; help: string; note?: string | null; children: ReactNode };

function Row({ label, labelId, help, note, children }: RowProps) {
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

/** Says when something else than this page decides. */
function overriding(settings: AllSettings, name: Name): string | null {
  const { source, overridden, value } = settings[name];
  const where = source === "pleach.toml" ? "the project's pleach.toml" : source === "variable" ? "a variable of the environment" : null;
  if (!where) return null;
  const own = overridden ? ` What is saved here (${String(overridden.value)}) counts elsewhere.` : "";
  return `In this project ${where} says ${String(value)}.${own}`;
}

function BatchSettings({ settings, save }: { settings: AllSettings; save: Save }) {
  const id = useId();
  const of = (name: Name) => ({ labelId: `${id}${name}`, note: overriding(settings, name) });
  return (
    <Group title="Batches">
      <Row label="Max batch size" help="How many tasks of a batch run at once." {...of("maxBatchSize")}>
        <NumberSlider labelId={`${id}maxBatchSize`} value={settings.maxBatchSize.value} max={10} onSave={(maxBatchSize) => save({ maxBatchSize })} />
      </Row>
      <Row label="Parallel limit" help="How many tasks run at once over all batches." {...of("parallelLimit")}>
        <NumberSlider labelId={`${id}parallelLimit`} value={settings.parallelLimit.value} max={64} onSave={(parallelLimit) => save({ parallelLimit })} />
      </Row>
      <Row label="Queue auto-approve" help="A queue goes on without asking after each task." {...of("queueAutoApprove")}>
        <Switch
          aria-labelledby={`${id}queueAutoApprove`}
          aria-describedby={`${id}queueAutoApprovehelp`}
          checked={settings.queueAutoApprove.value === true}
          onCheckedChange={(queueAutoApprove) => save({ queueAutoApprove })}
        />
      </Row>
      <Row label="Stop on failure" help="Nothing new starts once a task has failed." {...of("stopOnFailure")}>
        <Switch
          aria-labelledby={`${id}stopOnFailure`}
          aria-describedby={`${id}stopOnFailurehelp`}
          checked={settings.stopOnFailure.value === true}
          onCheckedChange={(stopOnFailure) => save({ stopOnFailure })}
        />
      </Row>
      <Row label="Conflict behavior" help="What becomes of a task that does not merge cleanly." {...of("conflictBehavior")}>
        <Select
          aria-labelledby={`${id}conflictBehavior`}
          aria-describedby={`${id}conflictBehaviorhelp`}
          className="w-36"
          value={String(settings.conflictBehavior.value)}
          options={[
            { value: "skip", label: "Skip" },
            { value: "fail", label: "Fail" },
            { value: "rerun", label: "Rerun" },
          ]}
          onChange={(event) => save({ conflictBehavior: event.target.value as "skip" })}
        />
      </Row>
    </Group>
  );
}

function NumberSlider({ labelId, value, max, onSave }: { labelId: string; value: unknown; max: number; onSave: (value: number) => void }) {
  const known = typeof value === "number" ? value : 3;
  const [shown, setShown] = useState(known);
  useEffect(() => setShown(known), [known]);
  return (
    <div className="flex w-56 items-center gap-3">
      <Slider labelledBy={labelId} describedBy={`${labelId}help`} value={Math.min(shown, max)} min={1} max={max} onChange={setShown} onSettle={onSave} />
      <output className="w-8 text-right">{typeof value === "number" ? shown : String(value)}</output>
    </div>
  );
}

function Appearance() {
  const { wish } = useTheme();
  const id = useId();
  const [allowed, setAllowed] = useState(() => (typeof Notification === "undefined" ? "denied" : Notification.permission));
  const says = { granted: "Allowed.", denied: "This browser does not allow them.", default: "When a task needs you or a batch ends." };
  return (
    <Group title="This browser">
      <Row label="Theme" labelId={`${id}theme`} help="Dark or light.">
        <Select
          aria-labelledby={`${id}theme`}
          className="w-36"
          value={wish}
          options={[
            { value: "system", label: "As the system" },
            { value: "dark", label: "Dark" },
            { value: "light", label: "Light" },
          ]}
          onChange={(event) => wishFor(event.target.value as Wish)}
        />
      </Row>
      <Row label="Notifications" labelId={`${id}notes`} help={says[allowed]}>
        {allowed === "default" ? <Button onClick={() => void Notification.requestPermission().then(setAllowed)}>Allow notifications</Button> : null}
      </Row>
    </Group>
  );
}

function Agents({ project }: { project: string | undefined }) {
  const { data, isPending, error } = useAgents(project);
  return (
    <Group title="Agents">
      {isPending ? <Skeleton className="m-4 h-24" /> : null}
      {error ? <p className="px-4 py-3 text-failed">{inWords(error)}</p> : null}
      {data?.map((agent) => <AgentRow key={agent.name} agent={agent} />)}
    </Group>
  );
}

function AgentRow({ agent }: { agent: AgentFound }) {
  const look = !agent.found
    ? { icon: CircleX, word: "Not installed", tone: "text-fg-3" }
    : agent.login === "missing"
      ? { icon: CircleHelp, word: "Not logged in", tone: "text-attention" }
      : { icon: CircleCheck, word: "Found", tone: "text-done" };
  const Icon = look.icon;
  const hint = agent.error ?? (agent.found ? (agent.login === "missing" ? agent.hint : null) : agent.install);
  return (
    <div className="px-4 py-2.5">
      <div className="flex flex-wrap items-center gap-x-2">
        <span className="font-medium">{agent.title}</span>
        {agent.version ? <span className="font-mono text-xs text-fg-3">{agent.version}</span> : null}
        {agent.isDefault ? <span className="rounded-full bg-accent-soft px-1.5 text-2xs text-accent-text">Default</span> : null}
        <span className="ml-auto flex items-center gap-1 text-xs text-fg-2">
          <Icon className={`size-3.5 ${look.tone}`} aria-hidden /> {look.word}
        </span>
      </div>
      {hint ? <p className="mt-0.5 break-words font-mono text-2xs text-fg-3">{hint}</p> : null}
    </div>
  );
}
