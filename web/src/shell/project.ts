// Which project is shown: the one chosen last, else the first.

import { useEffect } from "react";
import type { Project } from "@/api/client";
import { useProjects } from "@/api/queries";
import { load, useWorld } from "@/live/world";
import { recall, remember } from "./memory";

export function chooseProject(id: string) {
  remember("project", id);
  void load(id);
}

/** The project that is shown, once it is known. */
export function useProject(): Project | undefined {
  const id = useWorld((world) => world.project);
  const { data } = useProjects();
  return data?.find((project) => project.id === id);
}

/** Shows a project as soon as there is one. */
export function useFirstProject() {
  const { data } = useProjects();
  const shown = useWorld((world) => world.project);
  useEffect(() => {
    if (!data || data.length === 0 || data.some((project) => project.id === shown)) return;
    const kept = recall("project");
    const chosen = data.find((project) => project.id === kept) ?? data[0];
    if (chosen) void load(chosen.id);
  }, [data, shown]);
}
