// Dark or light: the person's wish, else the system's.

import { create } from "zustand";
import { recall, remember } from "./memory";

export type Wish = "system" | "dark" | "light";

const system = matchMedia("(prefers-color-scheme: light)");

function wished(): Wish {
  const kept = recall("theme");
  return kept === "dark" || kept === "light" ? kept : "system";
}

export const useTheme = create<{ wish: Wish; shown: "dark" | "light" }>(() => ({
  wish: wished(),
  shown: shownFor(wished()),
}));

function shownFor(wish: Wish): "dark" | "light" {
  if (wish !== "system") return wish;
  return system.matches ? "light" : "dark";
}

function show(wish: Wish) {
  const shown = shownFor(wish);
  document.documentElement.dataset.theme = shown;
  useTheme.setState({ wish, shown });
}

export function wishFor(wish: Wish) {
  remember("theme", wish === "system" ? null : wish);
  show(wish);
}

system.addEventListener("change", () => show(useTheme.getState().wish));
show(wished());
