// One line of a transcript as a row: what an agent said, did, changed and took.

import {
  Brain,
  Check,
  CircleAlert,
  CircleCheck,
  CircleStop,
  CircleX,
  FileMinus,
  FilePen,
  FilePlus,
  FolderSync,
  Globe,
  Hourglass,
  type LucideIcon,
  RotateCw,
  Search,
  SquareTerminal,
  Trash2,
  Wrench,
} from "lucide-react";
import { counted, worded } from "@/text/format";
import { cn } from "@/ui/cn";
import { Ansi, Marked } from "./Ansi";
import {
  type Entry,
  FOLD_LINES,
  firstLine,
  inputText,
  type Line,
  lineCount,
  patchSize,
  pauseText,
  usageText,
} from "./entry";
import { Block, Fold, FoldLink, Marker, SmallDiff, Status } from "./parts";

type Tool = Extract<Entry, { type: "tool_call" }>["tool"];
type Edit = Extract<Entry, { type: "file_edit" }>;

export type RowProps = {
  line: Line;
  words?: string | undefined;
  /** Whether a person opened or closed it; otherwise it is as it comes. */
  isOpen: boolean | undefined;
  onToggle: (key: string, open: boolean) => void;
  /** How the tool that this line calls ended, where that is known. */
  result?: string | undefined;
};

const TOOLS: Record<Tool, LucideIcon> = {
  read: Search,
  edit: FilePen,
  delete: Trash2,
  move: FolderSync,
  search: Search,
  execute: SquareTerminal,
  fetch: Globe,
  think: Brain,
  other: Wrench,
};

/** Of a longer line only the beginning is drawn until it is opened. */
const LONG = 4_000;

/** By what a row is opened and closed: a call and its result open together. */
export function foldKey(line: Line): string {
  const { detail } = line;
  return detail?.type === "tool_call" || detail?.type === "tool_result"
    ? `call ${detail.id}`
    : `line ${line.line}`;
}

export function EntryRow(props: RowProps) {
  const { line, words } = props;
  const { detail } = line;
  switch (detail?.type) {
    case "text":
      return <Prose {...props} text={detail.text} className="text-fg" />;
    case "thinking":
      return <Thinking {...props} text={detail.text} />;
    case "tool_call":
      return <Call {...props} call={detail} />;
    case "tool_result":
      return (
        <Result {...props} result={detail.status} output={detail.output} code={detail.exit_code ?? null} />
      );
    case "file_edit":
      return <FileEdit {...props} edit={detail} />;
    case "plan":
      return <Steps steps={detail.steps} />;
    case "usage":
      return <span className="text-fg-3">{usageText(detail)}</span>;
    case "session":
      return (
        <span className="text-fg-3">
          Session {[detail.id, detail.model, detail.version].filter(Boolean).join(" · ")}
        </span>
      );
    case "limit":
      return (
        <Marker
          icon={Hourglass}
          tone="attention"
          word="Usage limit"
          text={detail.message}
          note={pauseText(detail.retry_after_ms)}
        />
      );
    case "retry":
      return (
        <Marker
          icon={RotateCw}
          tone="attention"
          word={`Retry ${detail.attempt}`}
          text={detail.message}
          note={pauseText(detail.delay_ms)}
        />
      );
    case "error":
      return (
        <Marker
          icon={CircleAlert}
          tone="failed"
          word={`Error: ${worded(detail.trouble)}`}
          text={detail.message}
        />
      );
    case "result":
      return <Ended outcome={detail.outcome} message={detail.message} />;
    default:
      return <Raw {...props} text={detail?.type === "raw" ? detail.text : line.text} words={words} />;
  }
}

function Raw({ text, words, line, isOpen, onToggle }: RowProps & { text: string }) {
  if (text.length <= LONG) return <Ansi text={text} {...(words ? { words } : {})} />;
  return (
    <>
      <Ansi text={isOpen ? text : text.slice(0, LONG)} {...(words ? { words } : {})} />
      <FoldLink
        isOpen={isOpen ?? false}
        onClick={() => onToggle(foldKey(line), !isOpen)}
        more={counted(text.length - LONG, "more character")}
      />
    </>
  );
}

function Prose({
  text,
  words,
  line,
  isOpen,
  onToggle,
  className,
}: RowProps & { text: string; className?: string }) {
  const lines = lineCount(text);
  const isLong = lines > 3 * FOLD_LINES;
  const shown =
    isLong && !isOpen
      ? text
          .split("\n")
          .slice(0, 2 * FOLD_LINES)
          .join("\n")
      : text;
  return (
    <div className={cn("whitespace-pre-wrap break-words py-1 font-sans text-sm", className)}>
      <Marked text={shown} words={words} />
      {isLong ? (
        <FoldLink
          isOpen={isOpen ?? false}
          onClick={() => onToggle(foldKey(line), !isOpen)}
          more={counted(lines - 2 * FOLD_LINES, "more line")}
        />
      ) : null}
    </div>
  );
}

function Thinking(props: RowProps & { text: string }) {
  const { text, line, isOpen = false, onToggle, words } = props;
  return (
    <Fold
      isOpen={isOpen}
      onToggle={() => onToggle(foldKey(line), !isOpen)}
      icon={Brain}
      tone="text-fg-3"
      head={<span className="italic text-fg-3">{isOpen ? "Thinking" : firstLine(text)}</span>}
    >
      <div className="whitespace-pre-wrap break-words font-sans text-sm italic text-fg-3">
        <Marked text={text} words={words} />
      </div>
    </Fold>
  );
}

function Call({
  call,
  line,
  isOpen = false,
  onToggle,
  result,
  words,
}: RowProps & { call: Extract<Entry, { type: "tool_call" }> }) {
  const input = inputText(call.input);
  const head = (
    <>
      <span className="shrink-0 font-medium text-fg">{call.name}</span>
      <span className="min-w-0 truncate text-fg-2">
        <Marked text={call.title === call.name ? "" : call.title} words={words} />
      </span>
      {result && result !== "ok" ? <Status word={result} /> : null}
    </>
  );
  return (
    <Fold
      isOpen={isOpen}
      onToggle={() => onToggle(foldKey(line), !isOpen)}
      icon={TOOLS[call.tool] ?? Wrench}
      tone="text-ready"
      head={head}
      canOpen={input !== ""}
    >
      <Block text={input} words={words} />
    </Fold>
  );
}

function Result({
  result,
  output,
  code,
  line,
  isOpen = false,
  onToggle,
  words,
}: RowProps & { output: string; code: number | null }) {
  const lines = lineCount(output);
  const head = (
    <>
      <Status word={result ?? "ok"} />
      {code ? <span className="shrink-0 text-fg-3">exit {code}</span> : null}
      <span className="min-w-0 truncate text-fg-3">
        <Marked text={isOpen ? "" : firstLine(output)} words={words} />
      </span>
      {lines > 1 ? <span className="shrink-0 text-fg-3">{counted(lines, "line")}</span> : null}
    </>
  );
  return (
    <Fold
      isOpen={isOpen}
      onToggle={() => onToggle(foldKey(line), !isOpen)}
      head={head}
      canOpen={output !== ""}
      isNested
    >
      <Block text={output} words={words} />
    </Fold>
  );
}

const CHANGES: Record<Edit["change"], { icon: LucideIcon; word: string }> = {
  add: { icon: FilePlus, word: "Added" },
  modify: { icon: FilePen, word: "Edited" },
  delete: { icon: FileMinus, word: "Deleted" },
};

function FileEdit({ edit, line, isOpen, onToggle, words }: RowProps & { edit: Edit }) {
  const change = CHANGES[edit.change] ?? CHANGES.modify;
  const size = edit.diff ? patchSize(edit.diff) : null;
  const isShown = isOpen ?? (edit.diff ? lineCount(edit.diff) <= FOLD_LINES : false);
  const head = (
    <>
      <span className="shrink-0 text-fg-2">{change.word}</span>
      <span className="min-w-0 truncate font-medium text-fg">
        <Marked text={edit.path} words={words} />
      </span>
      {size ? (
        <span className="shrink-0">
          <span className="text-done">+{size.added}</span>{" "}
          <span className="text-failed">−{size.removed}</span>
        </span>
      ) : null}
    </>
  );
  return (
    <Fold
      isOpen={isShown}
      onToggle={() => onToggle(foldKey(line), !isShown)}
      icon={change.icon}
      tone="text-queued"
      head={head}
      canOpen={Boolean(edit.diff)}
    >
      <SmallDiff patch={edit.diff ?? ""} />
    </Fold>
  );
}

function Steps({ steps }: { steps: { text: string; status: string }[] }) {
  return (
    <ul className="py-1 font-sans text-sm" aria-label="Plan">
      {steps.map((step, i) => (
        <li key={i} className="flex items-start gap-2">
          <span
            className={cn(
              "mt-0.5 grid size-3.5 shrink-0 place-content-center rounded-sm border border-line-strong",
              step.status === "completed" && "border-done text-done",
              step.status === "in_progress" && "border-running",
            )}
            aria-hidden
          >
            {step.status === "completed" ? (
              <Check className="size-3" />
            ) : step.status === "in_progress" ? (
              <span className="size-1.5 rounded-full bg-running" />
            ) : null}
          </span>
          <span className={step.status === "completed" ? "text-fg-3" : "text-fg"}>
            {step.text}
            <span className="sr-only"> ({worded(step.status)})</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Ended({
  outcome,
  message,
}: {
  outcome: Extract<Entry, { type: "result" }>["outcome"];
  message: string;
}) {
  if (outcome === "completed") return <Marker icon={CircleCheck} tone="done" word="Done" text={message} />;
  if (outcome === "interrupted")
    return <Marker icon={CircleStop} tone="attention" word="Stopped" text={message} />;
  return <Marker icon={CircleX} tone="failed" word={`Failed: ${worded(outcome.failed)}`} text={message} />;
}
