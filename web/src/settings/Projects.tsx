// The projects that are known, and the way to forget one.

import { useQueryClient } from "@tanstack/react-query";
import { FolderPlus, Trash2 } from "lucide-react";
import { useState } from "react";
import { useAct } from "@/actions/actions";
import { answered, api, type Project } from "@/api/client";
import { keys, useProjects } from "@/api/queries";
import { openOverlay } from "@/app/overlays";
import { Button } from "@/ui/Button";
import { Confirm } from "@/ui/Confirm";
import { Group } from "./Group";

export function Projects() {
  const { data = [] } = useProjects();
  return (
    <Group title="Projects">
      {data.map((project) => (
        <ProjectRow key={project.id} project={project} />
      ))}
      <div className="px-4 py-2.5">
        <Button onClick={() => openOverlay("addProject")}>
          <FolderPlus aria-hidden /> Add a project
        </Button>
      </div>
    </Group>
  );
}

const says: Record<Project["status"], string> = {
  ready: "",
  cloning: "cloning",
  failed: "cloning failed",
};

function ProjectRow({ project }: { project: Project }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const { doing, act } = useAct();
  const forget = () =>
    act("forget", async () => {
      await answered(api.DELETE("/api/projects/{id}", { params: { path: { id: project.id } } }));
      await client.invalidateQueries({ queryKey: keys.projects });
    });
  return (
    <div className="flex items-center gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <div className="font-medium">
          {project.name} <span className="font-normal text-fg-2">{says[project.status]}</span>
        </div>
        <p className="font-mono text-2xs text-fg-3 [overflow-wrap:anywhere]">{project.path}</p>
        {project.error ? <p className="text-xs text-failed">{project.error}</p> : null}
      </div>
      <Button
        look="ghost"
        size="icon"
        aria-label={`Remove ${project.name}`}
        disabled={doing !== null}
        onClick={() => setAsking(true)}
      >
        <Trash2 />
      </Button>
      <Confirm
        open={isAsking}
        onOpenChange={setAsking}
        title={`Remove ${project.name}?`}
        action="Remove"
        keep="Keep it"
        onConfirm={() => void forget()}
      >
        It is removed from this list. The folder and its branches are not touched.
      </Confirm>
    </div>
  );
}
