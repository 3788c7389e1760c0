// Exchanges the code of a link for a cookie, and says whether this browser is in.

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
  if (answer.ok) return true;
  const { error } = await answer.json();
  say(`${error.message}: ${error.hint}`);
  return false;
}

async function begin() {
  const code = new URLSearchParams(location.hash.slice(1)).get("enter");
  if (code && !(await exchange(code))) return;
  const answer = await fetch("/api/openapi.json");
  if (answer.status === 401) {
    say("This browser is not in yet: open the link that `pleach serve` prints.");
    return;
  }
  say("You are in.");
  ways.hidden = false;
}

begin().catch(() => say("The server does not answer: is `pleach serve` still running?"));
