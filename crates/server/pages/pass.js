// The pass of this browser, kept where only pages of this origin read it.

export const PASS = "pleach.pass";

/** Asks the server for something, with the pass. */
export function asking(path) {
  const pass = localStorage.getItem(PASS);
  return fetch(path, { headers: pass ? { Authorization: `Bearer ${pass}` } : {} });
}
