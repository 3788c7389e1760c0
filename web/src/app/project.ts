// Which project is shown: the one chosen last, else the first.

import { useEffect } from "react";
import type { BoardTask, Project } from "@/api/client";
import { keys, projectsQuery, queryClient, useProjects } from "@/api/queries";
import { recall, remember } from "@/browser/memory";
import { show } from "@/live/load";
import { useConnection, useWorld } from "@/live/world";

/** Shows a project from now on; it is remembered once it is there. */
export async function chooseProject(id: string) {
  if (await show(id)) remember("project", id);
}

/** The project that is shown, once it is known. */
export function useProject(): Project | undefined {
  const id = useWorld((world) => world.project);
  const { data } = useProjects();
  return data?.find((project) => project.id === id);
}

/** Shows the project of a task that was opened by its address, once: the person may choose another one then. */
export function useProjectOf(task: BoardTask | undefined) {
  const project = task?.projectId;
  useEffect(() => {
    if (project && project !== useConnection.getState().wanted) void showListed(project);
  }, [task?.id, project]);
}

async function showListed(project: string) {
  const isListed = () =>
    queryClient.getQueryData(projectsQuery.queryKey)?.some((each) => each.id === project);
  if (!isListed()) await queryClient.refetchQueries({ queryKey: keys.projects });
  if (isListed()) void show(project);
}

/** Shows a project as soon as there is one. */
export function useFirstProject() {
  const { data } = useProjects();
  const wanted = useConnection((connection) => connection.wanted);
  useEffect(() => {
    const ready = data?.filter((project) => project.status === "ready") ?? [];
    if (ready.some((project) => project.id === wanted)) return;
    const kept = recall("project");
    const chosen = ready.find((project) => project.id === kept) ?? ready[0];
    if (chosen) void show(chosen.id);
  }, [data, wanted]);
}
