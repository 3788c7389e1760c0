// Puts the board into the page, after showing the server the code of a one-time link.

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./tokens.css";
import { enter } from "./api/client";
import { App } from "./app";

/** Uses up the code of a link such as `/#enter=…`; a wrong one shows in the next answer. */
async function signInByLink() {
  const code = /^#enter=(.+)$/.exec(location.hash)?.[1];
  if (!code) return;
  history.replaceState(null, "", location.pathname + location.search);
  await enter(code).catch(() => undefined);
}

const root = document.getElementById("root");
if (root) {
  await signInByLink();
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
