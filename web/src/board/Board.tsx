// The board of a project.

import { useNavigate } from "@tanstack/react-router";
import { FolderPlus, ListPlus, Plus } from "lucide-react";
import { useCallback, useEffect } from "react";
import { useProjects } from "@/api/queries";
import { useWorld } from "@/live/world";
import { openOverlay } from "@/shell/overlays";
import { useProject } from "@/shell/project";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Skeleton } from "@/ui/Skeleton";
import { BatchControls } from "./BatchControls";
import { Column } from "./Column";
import { columnNames } from "./columns";
import { ImportDrop, ImportPicker } from "./ImportDrop";
import { useBoardKeys } from "./keys";
import { select } from "./selection";

export function Board() {
  const { data: projects } = useProjects();
  const isLoaded = useWorld((world) => world.isLoaded);
  const isEmpty = useWorld((world) => world.tasks.size === 0);
  const project = useProject();
  if (projects?.length === 0) return <NoProject />;
  if (!isLoaded) return <Waiting />;
  return (
    <ImportDrop>
      <div className="flex h-full flex-col">
        <h1 className="sr-only">Board of {project?.name ?? "the project"}</h1>
        {project?.planError ? <Banner>The plan file could not be read, so the board shows it as it was: {project.planError}</Banner> : null}
        {isEmpty ? <NoTasks /> : <Columns />}
      </div>
    </ImportDrop>
  );
}

function Columns() {
  const navigate = useNavigate();
  const tasks = useWorld((world) => world.tasks);
  const onOpen = useCallback((id: string) => void navigate({ to: "/tasks/$id", params: { id } }), [navigate]);
  useEffect(() => select.keep((id) => tasks.has(id)), [tasks]);
  useBoardKeys(onOpen);
  return (
    <>
      <div className="flex min-h-0 flex-1 snap-x snap-mandatory gap-2 overflow-x-auto p-3 sm:snap-none">
        {columnNames.map((name) => (
          <Column key={name} name={name} onOpen={onOpen} />
        ))}
      </div>
      <BatchControls />
    </>
  );
}

function NoTasks() {
  return (
    <EmptyState
      icon={ListPlus}
      title="No tasks yet"
      action={
        <>
          <Button look="primary" onClick={() => openOverlay("newTask")}>
            <Plus aria-hidden /> New task
          </Button>
          <ImportPicker />
        </>
      }
    >
      Write the first one, or drop a plan in Markdown anywhere on this page.
    </EmptyState>
  );
}

function NoProject() {
  return (
    <EmptyState icon={FolderPlus} title="No project yet">
      Start <code className="font-mono">pleach serve</code> in a git repository, and its board is here.
    </EmptyState>
  );
}

function Waiting() {
  return (
    <div role="status" aria-label="Loading the board" className="flex h-full gap-2 overflow-hidden p-3">
      {columnNames.map((name) => (
        <div key={name} className="min-w-[236px] flex-1 space-y-1.5 rounded-lg bg-surface p-2">
          <Skeleton className="mb-3 h-5 w-24" />
          <Skeleton className="h-20" />
          <Skeleton className="h-20" />
          <Skeleton className="h-20" />
        </div>
      ))}
    </div>
  );
}
