// Which tasks a person wants to see, as it stands in the address.

import type { BoardTask } from "@/api/client";
import { type ColumnName, type Columns, columnNames } from "@/live/columns";

/** What can be chosen from; of one list any may fit, of several lists all must. */
export const lists = ["status", "label", "batch"] as const;
export type List = (typeof lists)[number];
export type Filter = { text: string } & Record<List, readonly string[]>;

/** The filter in the search part of an address. */
export function filterIn(search: string): Filter {
  const words = new URLSearchParams(search);
  const all = (list: List) => [...new Set(words.getAll(list).filter(Boolean))];
  return { text: words.get("q") ?? "", status: all("status"), label: all("label"), batch: all("batch") };
}

/** The search part of an address with another filter; what else stands there is kept. */
export function searchWith(filter: Filter, search: string): string {
  const words = new URLSearchParams(search);
  for (const name of ["q", ...lists]) words.delete(name);
  if (filter.text !== "") words.set("q", filter.text);
  for (const list of lists) for (const value of filter[list]) words.append(list, value);
  return words.toString();
}

export function isEmpty(filter: Filter): boolean {
  return filter.text.trim() === "" && lists.every((list) => filter[list].length === 0);
}

export function toggledIn(filter: Filter, list: List, value: string): Filter {
  const chosen = filter[list];
  return {
    ...filter,
    [list]: chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value],
  };
}

/** What a task is found by in each list. */
function valuesOf(task: BoardTask): Record<List, readonly string[]> {
  return { status: [task.word], label: task.labels, batch: task.batch ? [String(task.batch.number)] : [] };
}

/** A test for tasks; the words of the text may stand anywhere in the key, title and labels. */
export function passing(filter: Filter): (task: BoardTask) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const used = lists.filter((list) => filter[list].length > 0);
  return (task) => {
    const text = words.length > 0 ? `${task.key} ${task.title} ${task.labels.join(" ")}`.toLowerCase() : "";
    if (!words.every((word) => text.includes(word))) return false;
    const values = used.length > 0 ? valuesOf(task) : undefined;
    return used.every((list) => values?.[list].some((value) => filter[list].includes(value)));
  };
}

/** The columns without what does not pass; arrays that did not change stay the same ones. */
export function shownColumns(
  columns: Columns,
  tasks: ReadonlyMap<string, BoardTask>,
  filter: Filter,
  before: Columns,
): Columns {
  if (isEmpty(filter)) return columns;
  const passes = passing(filter);
  const isShown = (id: string) => {
    const task = tasks.get(id);
    return task !== undefined && passes(task);
  };
  const shown = (name: ColumnName) => {
    const is = columns[name].filter(isShown);
    const was = before[name];
    return was.length === is.length && was.every((id, at) => id === is[at]) ? was : is;
  };
  const found = Object.fromEntries(columnNames.map((name) => [name, shown(name)])) as Columns;
  return columnNames.every((name) => found[name] === before[name]) ? before : found;
}

/** Everything that the tasks could be filtered by. */
export function choices(tasks: Iterable<BoardTask>, filter: Filter): Record<List, string[]> {
  const found = {
    status: new Set(filter.status),
    label: new Set(filter.label),
    batch: new Set(filter.batch),
  };
  for (const task of tasks) {
    const values = valuesOf(task);
    for (const list of lists) for (const value of values[list]) found[list].add(value);
  }
  return {
    status: [...found.status].sort(),
    label: [...found.label].sort(),
    batch: [...found.batch].sort((a, b) => Number(b) - Number(a)),
  };
}
