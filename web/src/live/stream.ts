// Brings the events to this tab, through the shared worker where there is one.

import { isPassChange, pass } from "@/api/pass";
import { listen } from "./connection";
import type { FromStream, ToStream } from "./events";

type Tell = (message: FromStream) => void;

/** Calls `tell` for everything that is heard until the returned function is called. */
export function openStream(tell: Tell): () => void {
  let leave = join(tell);
  const hide = () => leave();
  // A page that the browser kept while another one was shown goes on where it was, but has left.
  const show = (event: PageTransitionEvent) => {
    if (event.persisted) leave = join(tell);
  };
  // Another tab signed in.
  const signIn = (event: StorageEvent) => {
    if (!isPassChange(event)) return;
    leave();
    leave = join(tell);
  };
  addEventListener("storage", signIn);
  addEventListener("pagehide", hide);
  addEventListener("pageshow", show);
  return () => {
    removeEventListener("storage", signIn);
    removeEventListener("pagehide", hide);
    removeEventListener("pageshow", show);
    leave();
  };
}

function join(tell: Tell): () => void {
  if (typeof SharedWorker === "undefined") return listen(tell, pass());
  const worker = new SharedWorker(new URL("./stream.worker.ts", import.meta.url), {
    type: "module",
    name: "pleach-events",
  });
  const { port } = worker;
  const say = (message: ToStream) => port.postMessage(message);
  let leave = () => {
    say("bye");
    port.close();
  };
  // A worker that does not start says nothing; this tab then listens for itself.
  worker.onerror = () => {
    worker.onerror = null;
    leave();
    leave = listen(tell, pass());
  };
  port.onmessage = (message: MessageEvent<FromStream>) => {
    worker.onerror = null;
    tell(message.data);
  };
  port.start();
  say({ pass: pass() });
  return () => {
    worker.onerror = null;
    leave();
  };
}
