// The board of a project.

import { useNavigate } from "@tanstack/react-router";
import { CircleAlert, FileDown, FolderPlus, ListPlus, Plus } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { type BoardTask, hintOf, inWords, type Project } from "@/api/client";
import { useProjects } from "@/api/queries";
import { openOverlay } from "@/app/overlays";
import { useProject } from "@/app/project";
import { select, useSelection } from "@/app/selection";
import { columnNames } from "@/live/columns";
import { load } from "@/live/load";
import { useConnection, useWorld } from "@/live/world";
import { counted } from "@/text/format";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { EmptyState } from "@/ui/EmptyState";
import { Skeleton } from "@/ui/Skeleton";
import { toast } from "@/visible/toast";
import { BatchControls } from "./BatchControls";
import { Column } from "./Column";
import { FilterBar, useFilter } from "./FilterBar";
import { shownColumns } from "./filter";
import { ImportDrop, ImportPicker, importPlan } from "./ImportDrop";
import { useBoardKeys } from "./keys";

export function Board() {
  const { data: projects } = useProjects();
  const isLoaded = useWorld((world) => world.isLoaded);
  const isEmpty = useWorld((world) => world.tasks.size === 0);
  const project = useProject();
  const error = useConnection((connection) => connection.error);
  if (projects && !projects.some((each) => each.status === "ready")) return <NoProject projects={projects} />;
  if (!isLoaded && error) return <NotLoaded error={error} />;
  if (!isLoaded) return <Waiting />;
  return (
    <ImportDrop>
      <div className="flex h-full flex-col">
        <h1 className="sr-only">Board of {project?.name ?? "the project"}</h1>
        {project?.planError ? (
          <Banner>
            The plan file could not be read, so the board shows it as it was: {project.planError}
          </Banner>
        ) : null}
        {isEmpty ? <NoTasks /> : <Columns />}
      </div>
    </ImportDrop>
  );
}

function Columns() {
  const navigate = useNavigate();
  const tasks = useWorld((world) => world.tasks);
  const columns = useWorld((world) => world.columns);
  const [filter, setFilter] = useFilter();
  const before = useRef(columns);
  const shown = useMemo(() => shownColumns(columns, tasks, filter, before.current), [columns, tasks, filter]);
  before.current = shown;
  const onOpen = useCallback((id: string) => void navigate({ to: "/tasks/$id", params: { id } }), [navigate]);
  useGone(tasks);
  useBoardKeys(onOpen, shown);
  const count = columnNames.reduce((sum, name) => sum + shown[name].length, 0);
  return (
    <>
      <FilterBar filter={filter} onChange={setFilter} shown={count} total={tasks.size} />
      <div className="flex min-h-0 flex-1 snap-x snap-mandatory gap-2 overflow-x-auto px-3 pb-3 pt-2 sm:snap-none">
        {columnNames.map((name) => (
          <Column key={name} name={name} ids={shown[name]} total={columns[name].length} onOpen={onOpen} />
        ))}
      </div>
      <BatchControls shown={shown} />
    </>
  );
}

/** Tasks that are deleted are no longer selected, and the person is told. */
function useGone(tasks: ReadonlyMap<string, BoardTask>) {
  useEffect(() => {
    const { ids } = useSelection.getState();
    const gone = [...ids].filter((id) => !tasks.has(id)).length;
    select.keep((id) => tasks.has(id));
    if (gone > 0)
      toast.info(counted(gone, "selected task no longer exists", "selected tasks no longer exist"));
  }, [tasks]);
}

function NoTasks() {
  const plan = useProject()?.foundPlan;
  return (
    <EmptyState
      icon={ListPlus}
      title="No tasks yet"
      action={
        <>
          {plan ? (
            <Button look="primary" onClick={() => void importPlan(plan, { path: plan })}>
              <FileDown aria-hidden /> Import {plan}
            </Button>
          ) : null}
          <Button look={plan ? "plain" : "primary"} onClick={() => openOverlay("newTask")}>
            <Plus aria-hidden /> New task
          </Button>
          <ImportPicker />
        </>
      }
    >
      {plan
        ? `This project has a plan. Importing ${plan} keeps the board and the file in sync.`
        : "Write the first one, or drop a plan in Markdown anywhere on this page."}
    </EmptyState>
  );
}

function NoProject({ projects }: { projects: readonly Project[] }) {
  const cloning = projects.find((project) => project.status === "cloning");
  const failed = projects.find((project) => project.status === "failed");
  return (
    <EmptyState
      isPage
      icon={FolderPlus}
      title={cloning ? `${cloning.name} is being cloned` : "No project yet"}
      action={
        <Button look="primary" onClick={() => openOverlay("addProject")}>
          <FolderPlus aria-hidden /> Add a project
        </Button>
      }
    >
      {cloning
        ? "Its board appears when cloning finishes."
        : failed
          ? `Could not clone ${failed.name}: ${failed.error ?? "unknown reason"}`
          : "Add a folder or a clone URL, or start pleach serve in a repository."}
    </EmptyState>
  );
}

function NotLoaded({ error }: { error: unknown }) {
  return (
    <EmptyState
      isPage
      icon={CircleAlert}
      title="Could not load the board"
      action={<Button onClick={() => void load()}>Try again</Button>}
    >
      {inWords(error)} {hintOf(error)}
    </EmptyState>
  );
}

function Waiting() {
  return (
    <div
      role="status"
      aria-label="Loading the board"
      className="flex h-full gap-2 overflow-hidden px-3 pb-3 pt-[52px]"
    >
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
