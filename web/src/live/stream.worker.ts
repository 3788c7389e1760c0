// Holds the one connection that all tabs of this browser share: a browser allows six to a server.

import { listen } from "./connection";
import type { FromStream, ToStream } from "./events";

const tabs = new Set<MessagePort>();
let state: FromStream = { kind: "lost", isRefused: false };
/** The pass that is listened with, which a worker cannot look up itself; none before the first tab has spoken. */
let pass: string | null | undefined;
let stop = () => {};

function tell(message: FromStream) {
  if (message.kind === "open" || message.kind === "lost") state = message;
  for (const tab of tabs) tab.postMessage(message);
}

function join(tab: MessagePort, given: string | null) {
  tabs.add(tab);
  if (given === pass) {
    tab.postMessage(state);
    return;
  }
  // Whoever came by a link just now has the newest one.
  pass = given;
  stop();
  stop = listen(tell, pass);
}

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = (event) => {
  const tab = event.ports[0];
  if (!tab) return;
  tab.onmessage = (message: MessageEvent<ToStream>) => {
    if (message.data === "bye") tabs.delete(tab);
    else join(tab, message.data.pass);
  };
  tab.start();
};
