// One connection to the stream of events; goes on where it was when it breaks.

import { eventNames, type FromStream } from "./events";

/** How long to wait before a connection that the browser gave up is made again; doubles while it is refused. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

/** Listens until the page is gone. */
export function listen(tell: (message: FromStream) => void): () => void {
  let source: EventSource | undefined;
  let last = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  let pause = PAUSE_MS;

  const connect = () => {
    const opened = new EventSource(last === "" ? "/api/events" : `/api/events?from=${last}`);
    source = opened;
    const heard = (event: MessageEvent<string>) => {
      if (event.lastEventId !== "") last = event.lastEventId;
      tell({ kind: "event", name: event.type, data: event.data });
    };
    for (const name of eventNames) opened.addEventListener(name, heard);
    opened.addEventListener("reset", () => {
      last = "";
      tell({ kind: "reset" });
    });
    opened.onopen = () => {
      pause = PAUSE_MS;
      tell({ kind: "open" });
    };
    opened.onerror = () => {
      // The browser comes back by itself unless the server answered with an error.
      const isRefused = opened.readyState === EventSource.CLOSED;
      tell({ kind: "lost", isRefused });
      if (isRefused && !isOver) {
        clearTimeout(timer);
        timer = setTimeout(connect, pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    };
  };
  connect();
  return () => {
    isOver = true;
    clearTimeout(timer);
    source?.close();
  };
}
