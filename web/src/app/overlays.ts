// Which windows over the page are open.

import { create } from "zustand";

type Name = "palette" | "sheet" | "newTask" | "addProject";
type Overlays = Record<Name, boolean> & { run: readonly string[] | null };

export const useOverlays = create<Overlays>(() => ({
  palette: false,
  sheet: false,
  newTask: false,
  addProject: false,
  run: null,
}));

export function openOverlay(name: Name, open = true) {
  useOverlays.setState({ [name]: open });
}

/** Opens the run dialog for some tasks, or closes it. */
export function openRun(tasks: readonly string[] | null) {
  useOverlays.setState({ run: tasks });
}
