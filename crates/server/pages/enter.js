// Exchanges the code of a link for a pass, and says whether this browser is signed in.

import { PASS, asking } from "./pass.js";

const state = document.getElementById("state");
const ways = document.getElementById("ways");

function say(text) {
  state.textContent = text;
}

async function exchange(code) {
  const answer = await fetch("/api/enter", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code }),
  });
  // The code is used up, and has no business in the history.
  history.replaceState(null, "", location.pathname);
  const told = await answer.json();
  if (answer.ok) {
    localStorage.setItem(PASS, told.pass);
    return true;
  }
  say(`${told.error.message}: ${told.error.hint}`);
  return false;
}

async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get("enter");
  if (code && !(await exchange(code))) return;
  const answer = await asking("/api/openapi.json");
  if (answer.status === 401) {
    say("Sign in: run `pleach serve` and open the link it prints.");
    return;
  }
  say("You are signed in.");
  ways.hidden = false;
}

begin().catch(() => say("The server does not answer: is `pleach serve` still running?"));
