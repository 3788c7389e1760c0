// What batches do by default, saved at once.

import { CircleCheck, CircleHelp, CircleX } from "lucide-react";
import { useEffect, useId, useState } from "react";
import {
  type AgentFound,
  type Settings as AllSettings,
  inWords,
  type SettingsChange,
  type Where,
} from "@/api/client";
import { useAgents, useClusters, useSaveSettings, useSettings } from "@/api/queries";
import { useProject } from "@/app/project";
import { useTheme, type Wish, wishFor } from "@/browser/theme";
import { allowSingleKeys, useSingleKeys } from "@/keys/hotkeys";
import { askLeave, useLeave } from "@/live/notify";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { TextField } from "@/ui/Field";
import { Select } from "@/ui/Select";
import { Skeleton } from "@/ui/Skeleton";
import { Slider } from "@/ui/Slider";
import { Switch } from "@/ui/Switch";
import { toast } from "@/visible/toast";
import { Group, Row } from "./Group";
import { Projects } from "./Projects";

type Name = Exclude<keyof AllSettings, "sources" | "overridden">;
type Save = (change: SettingsChange) => void;

export function Settings() {
  const project = useProject();
  const { data, error, isPending, refetch } = useSettings(project?.id);
  const saving = useSaveSettings(project?.id);
  const save: Save = (change) =>
    saving.mutate(change, {
      onError: (failure) => toast.error("Could not save the setting", { description: inWords(failure) }),
    });
  return (
    <div className="mx-auto max-w-2xl px-4 py-6 sm:px-6">
      <h1 className="text-xl font-semibold">Settings</h1>
      <p className="mt-1 text-fg-2">Changes are saved immediately and apply to new batches.</p>
      {error && !data ? (
        <div className="mt-4">
          <Banner
            tone="error"
            action={
              <Button size="small" onClick={() => void refetch()}>
                Try again
              </Button>
            }
          >
            The settings could not be read. {inWords(error)}
          </Banner>
        </div>
      ) : null}
      {isPending ? <Skeleton className="mt-6 h-64" /> : null}
      {data ? <BatchSettings project={project?.id} settings={data} save={save} /> : null}
      <Appearance />
      <Agents project={project?.id} />
      <Projects />
    </div>
  );
}

/** Says when something else than this page decides. */
function overriding(settings: AllSettings, name: Name): string | null {
  const source = settings.sources[name];
  const overridden = settings.overridden[name];
  const where =
    source === "pleach.toml"
      ? "the project's pleach.toml"
      : source === "variable"
        ? "an environment variable"
        : null;
  if (!where) return null;
  const own = overridden
    ? ` The value saved here (${String(overridden.value)}) applies to other projects.`
    : "";
  return `Overridden in this project by ${where}: ${String(settings[name])}.${own}`;
}

function BatchSettings({
  project,
  settings,
  save,
}: {
  project: string | undefined;
  settings: AllSettings;
  save: Save;
}) {
  const { data: clusters = [] } = useClusters(project);
  const id = useId();
  const of = (name: Name) => ({ labelId: `${id}${name}`, note: overriding(settings, name) });
  return (
    <Group title="Batches">
      <Row label="Max batch size" help="Number of tasks of a batch that run at once." {...of("maxBatchSize")}>
        <BatchSize
          labelId={`${id}maxBatchSize`}
          value={settings.maxBatchSize}
          most={settings.where === "local" ? 64 : 10_000}
          onSave={(maxBatchSize) => save({ maxBatchSize })}
        />
      </Row>
      <Row
        label="Parallel limit"
        help="Number of tasks that run at once, over all batches."
        {...of("parallelLimit")}
      >
        <NumberSlider
          labelId={`${id}parallelLimit`}
          value={settings.parallelLimit}
          max={64}
          onSave={(parallelLimit) => save({ parallelLimit })}
        />
      </Row>
      <SwitchRow
        label="Queue auto-approve"
        help="A queue starts its next task without approval."
        {...of("queueAutoApprove")}
        isOn={settings.queueAutoApprove}
        onSave={(queueAutoApprove) => save({ queueAutoApprove })}
      />
      <SwitchRow
        label="Stop on failure"
        help="Cancel the rest of a batch as soon as a task fails."
        {...of("stopOnFailure")}
        isOn={settings.stopOnFailure}
        onSave={(stopOnFailure) => save({ stopOnFailure })}
      />
      <Row
        label="Conflict behavior"
        help="What to do with a task that does not merge cleanly."
        {...of("conflictBehavior")}
      >
        <Select
          aria-labelledby={`${id}conflictBehavior`}
          aria-describedby={`${id}conflictBehaviorhelp`}
          className="w-36"
          value={settings.conflictBehavior}
          options={[
            { value: "skip", label: "Skip" },
            { value: "fail", label: "Fail" },
            { value: "rerun", label: "Rerun" },
          ]}
          onChange={(event) => save({ conflictBehavior: event.target.value as "skip" })}
        />
      </Row>
      <Row label="Where" help="Where attempts and tests run." {...of("where")}>
        <Select
          aria-labelledby={`${id}where`}
          aria-describedby={`${id}wherehelp`}
          className="w-36"
          value={settings.where}
          options={clusters.map(({ name, title, reason }) => ({
            value: name,
            label: reason ? `${title} (${reason})` : title,
            disabled: reason != null,
          }))}
          onChange={(event) => save({ where: event.target.value as Where })}
        />
      </Row>
    </Group>
  );
}

type SwitchProps = {
  label: string;
  labelId: string;
  help: string;
  note: string | null;
  isOn: boolean;
  onSave: (isOn: boolean) => void;
};

function SwitchRow({ isOn, onSave, ...row }: SwitchProps) {
  return (
    <Row {...row}>
      <Switch
        aria-labelledby={row.labelId}
        aria-describedby={`${row.labelId}help`}
        checked={isOn}
        onCheckedChange={onSave}
      />
    </Row>
  );
}

/** A slider for the usual sizes, a field for larger ones, and a switch for as many as the machine can take. */
function BatchSize({
  labelId,
  value,
  most,
  onSave,
}: {
  labelId: string;
  value: AllSettings["maxBatchSize"];
  /** Beyond it the server does not have to be asked. */
  most: number;
  onSave: (value: AllSettings["maxBatchSize"]) => void;
}) {
  const isAuto = value === "auto";
  const number = isAuto ? 3 : value;
  return (
    <div className="flex flex-wrap items-center gap-3">
      {isAuto ? null : (
        <>
          <NumberSlider labelId={labelId} value={number} max={10} onSave={onSave} isBare />
          <TextField
            key={number}
            type="number"
            className="w-16"
            aria-labelledby={labelId}
            min={1}
            max={most}
            defaultValue={number}
            onBlur={({ target }) =>
              target.validity.valid && target.valueAsNumber !== number && onSave(target.valueAsNumber)
            }
          />
        </>
      )}
      <label className="flex items-center gap-2 text-xs">
        Auto <Switch checked={isAuto} onCheckedChange={(isOn) => onSave(isOn ? "auto" : number)} />
      </label>
    </div>
  );
}

function NumberSlider({
  labelId,
  value,
  max,
  onSave,
  isBare,
}: {
  labelId: string;
  value: number;
  max: number;
  onSave: (value: number) => void;
  isBare?: boolean;
}) {
  const [shown, setShown] = useState(value);
  useEffect(() => setShown(value), [value]);
  return (
    <div className={isBare ? "w-36" : "flex w-56 items-center gap-3"}>
      <Slider
        labelledBy={labelId}
        describedBy={`${labelId}help`}
        value={Math.min(shown, max)}
        min={1}
        max={max}
        onChange={setShown}
        onSettle={onSave}
      />
      {isBare ? null : <output className="w-8 text-right">{shown}</output>}
    </div>
  );
}

function Appearance() {
  const { wish } = useTheme();
  const id = useId();
  const leave = useLeave((state) => state.leave);
  const singleKeys = useSingleKeys((state) => state.isOn);
  const says = {
    granted: "Allowed.",
    denied: "This browser does not allow them.",
    default: "When a task needs you or a batch ends.",
  };
  return (
    <Group title="This browser">
      <Row label="Theme" labelId={`${id}theme`} help="Dark or light.">
        <Select
          aria-labelledby={`${id}theme`}
          className="w-36"
          value={wish}
          options={[
            { value: "system", label: "System" },
            { value: "dark", label: "Dark" },
            { value: "light", label: "Light" },
          ]}
          onChange={(event) => wishFor(event.target.value as Wish)}
        />
      </Row>
      <Row
        label="Single-key shortcuts"
        labelId={`${id}keys`}
        help="Single letters are shortcuts, such as R to run a task. Arrows, Enter and Ctrl K always work."
      >
        <Switch
          aria-labelledby={`${id}keys`}
          aria-describedby={`${id}keyshelp`}
          checked={singleKeys}
          onCheckedChange={allowSingleKeys}
        />
      </Row>
      <Row label="Notifications" labelId={`${id}notes`} help={says[leave]}>
        {leave === "default" ? <Button onClick={() => void askLeave()}>Allow notifications</Button> : null}
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
      {data
        ?.toSorted((a, b) => Number(b.found) - Number(a.found))
        .map((agent) => (
          <AgentRow key={agent.name} agent={agent} />
        ))}
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
        {agent.isDefault ? (
          <span className="rounded-full bg-accent-soft px-1.5 text-2xs text-accent-text">Default</span>
        ) : null}
        <span className="ml-auto flex items-center gap-1 text-xs text-fg-2">
          <Icon className={`size-3.5 ${look.tone}`} aria-hidden /> {look.word}
        </span>
      </div>
      {hint ? <p className="mt-0.5 break-words font-mono text-2xs text-fg-3">{hint}</p> : null}
    </div>
  );
}
