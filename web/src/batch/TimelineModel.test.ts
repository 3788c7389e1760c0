import { describe, expect, it } from "vitest";
import { laneOut, ticks } from "./TimelineModel";

type Task = Parameters<typeof laneOut>[0][number];

/** A task by its id and the seconds of its begin and end. */
function task(taskId: string, from?: number, to?: number): Task {
  const at = (seconds?: number) => (seconds === undefined ? null : new Date(seconds * 1_000).toISOString());
  const view = { taskId, title: taskId, startedAt: at(from), completedAt: at(to) };
  return view as Task;
}

describe("the timeline of a batch", () => {
  it("uses as few lanes as tasks ran at once", () => {
    const { bars, lanes } = laneOut(
      [task("a", 0, 10), task("b", 0, 4), task("c", 4, 8), task("d", 9, 12)],
      0,
    );
    expect(lanes).toBe(2);
    expect(bars.map((bar) => `${bar.task.taskId}${bar.lane}`)).toEqual(["b0", "a1", "c0", "d0"]);
  });

  it("draws what still runs until now, and lists what has not begun", () => {
    const { bars, to, waiting } = laneOut([task("a", 10), task("b")], 25_000);
    expect(bars[0]).toMatchObject({ from: 10_000, to: 25_000, isOpen: true });
    expect(to).toBe(25_000);
    expect(waiting.map((each) => each.taskId)).toEqual(["b"]);
  });

  it("has an axis where nothing ran", () => {
    expect(laneOut([], 5_000)).toMatchObject({ lanes: 0, from: 5_000, to: 6_000 });
  });

  it("marks round times", () => {
    expect(ticks(55, 6)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(ticks(3_700, 5)).toEqual([0, 900, 1_800, 2_700, 3_600]);
  });
});
