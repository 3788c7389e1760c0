// When the tasks of a batch ran, laid out on as few lanes as there were slots.

import type { components } from "../api/schema";

type Task = components["schemas"]["TaskView"];

export type Bar = { task: Task; lane: number; from: number; to: number; isOpen: boolean };
export type Lanes = { bars: Bar[]; lanes: number; from: number; to: number; waiting: Task[] };

/** Puts every task that began on the first lane that is free; `now` ends those that are still at it. */
export function laneOut(tasks: readonly Task[], now: number): Lanes {
  const began = tasks.flatMap((task) => {
    if (!task.startedAt) return [];
    const from = Date.parse(task.startedAt);
    const to = task.completedAt ? Date.parse(task.completedAt) : Math.max(from, now);
    return [{ task, from, to: Math.max(from, to), isOpen: !task.completedAt }];
  });
  began.sort((a, b) => a.from - b.from || a.to - b.to);
  const free: number[] = [];
  const bars = began.map((bar) => {
    const found = free.findIndex((until) => until <= bar.from);
    const lane = found < 0 ? free.length : found;
    free[lane] = bar.to;
    return { ...bar, lane };
  });
  const from = bars[0]?.from ?? now;
  const to = Math.max(from + 1_000, ...bars.map((bar) => bar.to));
  return { bars, lanes: free.length, from, to, waiting: tasks.filter((task) => !task.startedAt) };
}

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 43_200, 86_400];

/** Round places on the axis in seconds since the begin, at most `most` of them. */
export function ticks(seconds: number, most: number): number[] {
  const step = STEPS.find((each) => seconds / each <= most) ?? Math.ceil(seconds / most / 86_400) * 86_400;
  const found: number[] = [];
  for (let at = 0; at <= seconds; at += step) found.push(at);
  return found;
}
