// One connection to the stream of events; goes on where it was when it breaks.

import { shown } from "@/api/pass";
import type { FromStream } from "./events";
import { reader, type Sent } from "./sse";

/** How long to wait before a connection is made again; doubles while it is refused. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

/** Listens with a pass until the returned function is called. */
export function listen(tell: (message: FromStream) => void, pass: string | null): () => void {
  const over = new AbortController();
  let last = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let pause = PAUSE_MS;

  const hear = ({ name, data, id }: Sent) => {
    if (name === "reset") {
      last = "";
      tell({ kind: "reset" });
      return;
    }
    if (id !== "") last = id;
    tell({ kind: "event", name, data });
  };

  /** Whether the server answered, but not with events; returns when the connection has ended. */
  const follow = async (): Promise<boolean> => {
    const answer = await fetch(last === "" ? "/api/events" : `/api/events?from=${last}`, {
      headers: shown(pass),
      cache: "no-store",
      signal: over.signal,
    });
    if (!answer.ok || !answer.body) return true;
    pause = PAUSE_MS;
    tell({ kind: "open" });
    const take = reader(hear);
    const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await pieces.read(); !piece.done; piece = await pieces.read()) take(piece.value);
    return false;
  };

  const connect = async () => {
    const isRefused = await follow().catch(() => false);
    if (over.signal.aborted) return;
    tell({ kind: "lost", isRefused });
    timer = setTimeout(connect, pause);
    if (isRefused) pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
  };
  void connect();
  return () => {
    over.abort();
    clearTimeout(timer);
  };
}
