// When tasks ran, slot by slot.

import { useRouter } from "@tanstack/react-router";
import { ChartNoAxesGantt } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import type { BatchView } from "@/api/client";
import { isPlain } from "@/app/Go";
import { useNow } from "@/live/clock";
import { isOver } from "@/live/state";
import { counted, duration } from "@/text/format";
import { lookOf } from "@/ui/Badge";
import { EmptyState } from "@/ui/EmptyState";
import { TaskName, useTaskHref } from "./SummaryTask";
import { type Bar, laneOut, ticks } from "./TimelineModel";

const LANE = 40;
const TOP = 28;
const LEFT = 56;

function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (!element.current) return;
    const observer = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, width: Math.max(560, width) };
}

export function Timeline({ batch }: { batch: BatchView }) {
  const isRunning = !isOver(batch) && !batch.interrupted;
  const now = useNow(isRunning);
  const { element, width } = useWidth();
  const lanes = laneOut(batch.tasks, now);
  const seconds = (lanes.to - lanes.from) / 1_000;
  const room = width - LEFT - 16;
  const x = (at: number) => LEFT + ((at - lanes.from) / (lanes.to - lanes.from)) * room;
  const height = TOP + lanes.lanes * LANE + 4;
  return (
    <div
      className="min-h-0 flex-1 overflow-auto p-4"
      tabIndex={0}
      role="region"
      aria-label="Timeline of slots"
    >
      <div ref={element} className="w-full min-w-[560px]">
        {lanes.bars.length === 0 ? (
          <EmptyState icon={ChartNoAxesGantt} title="Nothing has run yet">
            Each task is drawn on the slot it ran in.
          </EmptyState>
        ) : (
          <svg
            width={width}
            height={height}
            role="group"
            aria-label={`${counted(lanes.bars.length, "task")} on ${counted(lanes.lanes, "slot")}`}
            className="block"
          >
            {Array.from({ length: lanes.lanes }, (_, lane) => (
              <g key={lane}>
                <rect
                  x={0}
                  y={TOP + lane * LANE}
                  width={width}
                  height={LANE}
                  fill={lane % 2 === 0 ? "var(--surface)" : "var(--bg)"}
                />
                <text x={4} y={TOP + lane * LANE + LANE / 2 + 4} fill="var(--fg-3)" fontSize={11}>
                  Slot {lane + 1}
                </text>
              </g>
            ))}
            {ticks(seconds, Math.max(2, Math.floor(room / 90))).map((tick) => (
              <g key={tick}>
                <line
                  x1={x(lanes.from + tick * 1_000)}
                  x2={x(lanes.from + tick * 1_000)}
                  y1={TOP - 6}
                  y2={height}
                  stroke="var(--line)"
                />
                <text x={x(lanes.from + tick * 1_000) + 3} y={14} fill="var(--fg-3)" fontSize={11}>
                  {tick === 0 ? "0" : duration(tick)}
                </text>
              </g>
            ))}
            {lanes.bars.map((bar) => (
              <TaskBar
                key={bar.task.taskId}
                batch={batch}
                bar={bar}
                x={x(bar.from)}
                width={Math.max(3, x(bar.to) - x(bar.from))}
              />
            ))}
            {isRunning ? (
              <line
                x1={x(lanes.to)}
                x2={x(lanes.to)}
                y1={TOP - 6}
                y2={height}
                stroke="var(--accent-text)"
                strokeWidth={1.5}
              />
            ) : null}
          </svg>
        )}
        {lanes.waiting.length > 0 ? (
          <section className="mt-4">
            <h2 className="mb-1 text-xs text-fg-3">{isOver(batch) ? "Never started" : "Not started yet"}</h2>
            <ul className="flex flex-wrap gap-x-4 gap-y-1 text-sm">
              {lanes.waiting.map((task) => (
                <li key={task.taskId}>
                  <TaskName batch={batch} id={task.taskId} />
                </li>
              ))}
            </ul>
          </section>
        ) : null}
      </div>
    </div>
  );
}

function TaskBar({ batch, bar, x, width }: { batch: BatchView; bar: Bar; x: number; width: number }) {
  const href = useTaskHref(batch, bar.task.taskId);
  const router = useRouter();
  const look = lookOf(bar.task.outcome ?? bar.task.state);
  const took = duration((bar.to - bar.from) / 1_000);
  const y = TOP + bar.lane * LANE + 4;
  const words = `${bar.task.key} ${bar.task.title} ${look.word}, ${took}`;
  const drawn = (
    <>
      {width > 60 ? null : <title>{words}</title>}
      <rect
        x={x}
        y={y}
        width={Math.max(1, width - 2)}
        height={LANE - 8}
        rx={5}
        fill="var(--raised)"
        stroke="var(--line-strong)"
        strokeDasharray={bar.isOpen ? "4 3" : undefined}
      />
      {/* biome-ignore lint/a11y/noSvgWithoutTitle: what is around it says what it is */}
      <svg x={x} y={y} width={Math.max(1, width - 6)} height={LANE - 8} className={look.tone}>
        <rect width={3} height={LANE - 8} rx={1.5} fill="currentColor" />
        {width > 28 ? <look.icon x={9} y={9} width={14} height={14} aria-hidden /> : null}
        {width > 60 ? (
          <text fontSize={11}>
            <tspan x={28} y={14} fill="var(--fg)" fontWeight={500}>
              {bar.task.key} {bar.task.title}
            </tspan>{" "}
            <tspan x={28} y={27} fill="var(--fg-2)">
              {look.word}, {took}
            </tspan>
          </text>
        ) : null}
      </svg>
    </>
  );
  if (!href)
    return (
      // biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: a group of an SVG does nothing by itself
      <g aria-label={words} role="img">
        {drawn}
      </g>
    );
  return (
    <a
      href={href}
      aria-label={words}
      onClick={(event) => {
        if (!isPlain(event)) return;
        event.preventDefault();
        router.history.push(href);
      }}
    >
      {drawn}
    </a>
  );
}
