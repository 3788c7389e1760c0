// What is heard: the events of the server, by the types of its document, and what the shared connection tells a tab.

import type { components } from "@/api/schema";

export type LiveEvent = components["schemas"]["LiveEvent"];

/** Those of a task in a batch. */
export type TaskEvent = Extract<LiveEvent, { name: `batch:task:${string}` }>;

export function isTaskEvent(event: LiveEvent): event is TaskEvent {
  return event.name.startsWith("batch:task:");
}

/** What a tab tells the connection that it shares. */
export type ToStream = "bye" | { pass: string | null };

/** What the connection tells a tab. */
export type FromStream =
  | { kind: "open" }
  /** `isRefused` where the server answered, but not with events. */
  | { kind: "lost"; isRefused: boolean }
  /** The log is another one. */
  | { kind: "reset" }
  | { kind: "event"; name: string; data: string };
