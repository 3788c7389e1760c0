// The pass of this browser: kept where only pages of this origin, port included, can read it, and sent by hand.
//
// A cookie would be sent to every port of this machine, also to those at which agents listen.

const KEY = "pleach.pass";

/** The pass, if this browser ever signed in. */
export function pass(): string | null {
  try {
    return globalThis.localStorage?.getItem(KEY) ?? null;
  } catch {
    // A browser that keeps nothing for pages signs in with each new one.
    return forNow;
  }
}

let forNow: string | null = null;

export function keepPass(given: string) {
  forNow = given;
  try {
    localStorage.setItem(KEY, given);
  } catch {
    // It holds until the page is closed.
  }
}

/** Whether another tab of this browser got a new pass. */
export function isPassChange(event: StorageEvent): boolean {
  return event.key === KEY;
}

/** What a request shows the server. */
export function shown(given: string | null): Record<string, string> {
  return given === null ? {} : { Authorization: `Bearer ${given}` };
}
