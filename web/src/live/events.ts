// The events of the server as the board hears them.

import type { BatchView, BoardTask } from "@/api/client";

type Of = { batchId: number; at: string };
type OfTask = Of & { taskId: string };

export type LiveEvent =
  | { name: "task:created" | "task:updated"; data: { taskId: string; projectId?: string; task: BoardTask } }
  | { name: "task:deleted"; data: { taskId: string; projectId?: string } }
  | { name: "project:updated"; data: { projectId: string } }
  | { name: "settings:updated"; data: { settings: unknown } }
  | { name: "execution:log"; data: OfTask & { attempt: number; total: number } }
  | {
      name: "execution:progress";
      data: OfTask & { attempt: number; action?: string | null; tokens: number; costUsd: number };
    }
  | { name: "batch:progress"; data: Of & BatchView["progress"] }
  | { name: "batch:predicted"; data: Of & { pairs: { files: string[]; tasks: string[] }[] } }
  | { name: "batch:interrupted"; data: Of }
  | { name: "batch:conflict"; data: OfTask & { files: string[]; with: string[] } }
  | {
      name: TaskEventName;
      data: OfTask & {
        outcome?: string;
        error?: string;
        reason?: string;
        attempt?: number;
        worktreeId?: string;
        sessionId?: string;
        tokens?: number;
        costUsd?: number;
        files?: string[];
        branch?: string;
        consent?: string[];
        at: string;
      };
    }
  | {
      name: BatchEventName;
      data: Of & { prUrl?: string | null; error?: string; reason?: string; hint?: string };
    };

const taskEvents = [
  "batch:task:waiting",
  "batch:task:approved",
  "batch:task:started",
  "batch:task:placed",
  "batch:task:stopping",
  "batch:task:kept",
  "batch:task:built",
  "batch:task:retrying",
  "batch:task:spent",
  "batch:task:session",
  "batch:task:limited",
  "batch:task:queued",
  "batch:task:lost",
  "batch:task:resolved",
  "batch:task:published",
  "batch:task:completed",
  "batch:task:failed",
  "batch:task:skipped",
  "batch:task:taken_over",
  "batch:task:cancelled",
] as const;

const batchEvents = [
  "batch:created",
  "batch:started",
  "batch:resumed",
  "batch:stage:started",
  "batch:stage:completed",
  "batch:fallback",
  "batch:held",
  "batch:unheld",
  "batch:slots",
  "batch:cancelling",
  "batch:finishing",
  "batch:stopping",
  "batch:merging",
  "batch:published",
  "batch:unpublished",
  "batch:validating",
  "batch:judged",
  "batch:rewoven",
  "batch:proved",
  "batch:not_proved",
  "batch:reopened",
  "batch:landing",
  "batch:pushing",
  "batch:pushed",
  "batch:landed",
  "batch:not_landed",
  "batch:completed",
  "batch:failed",
  "batch:cancelled",
] as const;

export type TaskEventName = (typeof taskEvents)[number];
export type BatchEventName = (typeof batchEvents)[number];

/** Every name that the stream is listened to for; `reset` means that the log is another one. */
export const eventNames: readonly string[] = [
  ...taskEvents,
  ...batchEvents,
  "batch:progress",
  "batch:predicted",
  "batch:conflict",
  "batch:interrupted",
  "task:created",
  "task:updated",
  "task:deleted",
  "project:updated",
  "settings:updated",
  "execution:log",
  "execution:progress",
];

const ofTask = new Set<string>(taskEvents);
const ofBatch = new Set<string>(batchEvents);

export function isTaskEvent(event: LiveEvent): event is Extract<LiveEvent, { name: TaskEventName }> {
  return ofTask.has(event.name);
}

export function isBatchEvent(event: LiveEvent): event is Extract<LiveEvent, { name: BatchEventName }> {
  return ofBatch.has(event.name);
}

/** What a tab tells the connection that it shares. */
export type ToStream = "bye" | { pass: string | null };

/** What the connection tells a tab. */
export type FromStream =
  | { kind: "open" }
  /** `isRefused` where the server answered, but not with events. */
  | { kind: "lost"; isRefused: boolean }
  | { kind: "reset" }
  | { kind: "event"; name: string; data: string };
