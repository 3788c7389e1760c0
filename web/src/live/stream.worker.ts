// Holds the one connection that all tabs of this browser share: a browser allows six to a server.

import { listen } from "./connection";
import type { FromStream } from "./events";

const tabs = new Set<MessagePort>();
let state: FromStream = { kind: "lost", isRefused: false };
let isListening = false;

function tell(message: FromStream) {
  if (message.kind === "open" || message.kind === "lost") state = message;
  for (const tab of tabs) tab.postMessage(message);
}

const scope = self as unknown as { onconnect: (event: MessageEvent) => void };
scope.onconnect = (event) => {
  const tab = event.ports[0];
  if (!tab) return;
  tabs.add(tab);
  tab.onmessage = (message) => {
    if (message.data === "bye") tabs.delete(tab);
  };
  tab.start();
  if (isListening) {
    tab.postMessage(state);
  } else {
    isListening = true;
    listen(tell);
  }
};
