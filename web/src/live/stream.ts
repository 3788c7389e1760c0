// Brings the events to this tab, through the shared worker where there is one.

import { listen } from "./connection";
import type { FromStream } from "./events";

/** Calls `tell` for everything that is heard until the returned function is called. */
export function openStream(tell: (message: FromStream) => void): () => void {
  if (typeof SharedWorker === "undefined") return listen(tell);
  const worker = new SharedWorker(new URL("./stream.worker.ts", import.meta.url), { type: "module", name: "pleach-events" });
  worker.port.onmessage = (message: MessageEvent<FromStream>) => tell(message.data);
  worker.port.start();
  const leave = () => worker.port.postMessage("bye");
  addEventListener("pagehide", leave);
  return () => {
    removeEventListener("pagehide", leave);
    leave();
    worker.port.close();
  };
}
