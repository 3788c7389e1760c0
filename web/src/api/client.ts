// Asks the server, and turns what it refuses into one kind of error.

import createClient from "openapi-fetch";
import { sentence } from "@/text/format";
import { keepPass, pass, shown } from "./pass";
import type { components, paths } from "./schema";

type Schemas = components["schemas"];

export type BoardTask = Schemas["BoardTask"];
export type BatchView = Schemas["BatchView"];
export type TaskView = Schemas["TaskView"];
export type Project = Schemas["Project"];
export type Settings = Schemas["Settings"];
export type SettingsChange = Schemas["SettingsChange"];
export type AgentFound = Schemas["AgentFound"];
export type ClusterFound = Schemas["ClusterFound"];
export type Where = Schemas["Where"];
export type BatchOptions = Schemas["BatchOptions"];
export type BatchPreview = Schemas["BatchPreview"];
export type AttemptView = Schemas["AttemptView"];
export type TaskChanges = Schemas["TaskChanges"];
export type ErrorText = Schemas["ErrorText"];

/** What the server did not do, and why. Status 0 means that it did not answer. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;
  readonly details: unknown;

  constructor(status: number, error: Partial<ErrorText>) {
    super(error.message ?? `the server answered ${status}`);
    this.name = "Refused";
    this.status = status;
    this.code = error.code ?? "unknown";
    this.hint = error.hint ?? undefined;
    this.details = error.details;
  }
}

/** The address that a person must confirm first, if that is what the server wants. */
export function unconfirmedPush(error: unknown): string | null {
  return error instanceof Refused && error.code === "push_unconfirmed"
    ? (error.details as { address: string }).address
    : null;
}

export const api = createClient<paths>({ baseUrl: globalThis.location?.origin ?? "", credentials: "omit" });

api.use({
  onRequest: ({ request }) => {
    for (const [name, value] of Object.entries(shown(pass()))) request.headers.set(name, value);
  },
});

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** What was asked for, or `Refused`. */
export async function answered<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch {
    throw new Refused(0, {
      code: "no_answer",
      message: "the server does not answer",
      hint: "is `pleach serve` still running?",
    });
  }
  if (answer.error !== undefined || !answer.response.ok) {
    const body = answer.error as { error?: ErrorText } | undefined;
    throw new Refused(answer.response.status, body?.error ?? {});
  }
  return answer.data as T;
}

/** One sentence about what went wrong. */
export function inWords(error: unknown): string {
  return error instanceof Error ? sentence(error.message) : "Something went wrong.";
}

/** What the server says can be done about it. */
export function hintOf(error: unknown): string | undefined {
  return error instanceof Refused && error.hint ? sentence(error.hint) : undefined;
}

/** Shows the server the code of a one-time link, and keeps the pass that it gives for it. */
export async function enter(code: string): Promise<void> {
  keepPass((await answered(api.POST("/api/enter", { body: { code } }))).pass);
}
