// Which windows over the page are open.

import { create } from "zustand";

type Overlays = { palette: boolean; sheet: boolean; newTask: boolean; run: readonly string[] | null };

export const useOverlays = create<Overlays>(() => ({ palette: false, sheet: false, newTask: false, run: null }));

export function openOverlay(name: "palette" | "sheet" | "newTask", open = true) {
  useOverlays.setState({ [name]: open });
}

/** Opens the run dialog for some tasks, or closes it. */
export function openRun(tasks: readonly string[] | null) {
  useOverlays.setState({ run: tasks });
}
