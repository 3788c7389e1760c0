// Adds a project: a folder of this machine, or an address to clone from.

import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { answered, api, type Project } from "@/api/client";
import { keys } from "@/api/queries";
import { openOverlay, useOverlays } from "@/app/overlays";
import { chooseProject } from "@/app/project";
import { Button } from "@/ui/Button";
import { Dialog } from "@/ui/Dialog";
import { ErrorLine } from "@/ui/ErrorLine";
import { TextField } from "@/ui/Field";
import { toast } from "@/visible/toast";

/** What the server is to be told: an address has a scheme, or is `user@host:path`. */
export function whereFrom(text: string): { path: string } | { url: string } {
  const where = text.trim();
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(where) || /^[^\s/@:]+@[^\s/:]+:/.test(where)
    ? { url: where }
    : { path: where };
}

export function AddProject() {
  const open = useOverlays((overlays) => overlays.addProject);
  return (
    <Dialog
      open={open}
      onOpenChange={(is) => openOverlay("addProject", is)}
      title="Add a project"
      className="max-w-[480px]"
    >
      <Form />
    </Dialog>
  );
}

function Form() {
  const client = useQueryClient();
  const [where, setWhere] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const id = useId();
  const add = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const project: Project = await answered(api.POST("/api/projects", { body: whereFrom(where) }));
      await client.invalidateQueries({ queryKey: keys.projects });
      openOverlay("addProject", false);
      if (project.status === "ready") chooseProject(project.id);
      else
        toast(`${project.name} is being cloned`, {
          description: "It can be selected once cloning finishes.",
        });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form className="space-y-4" onSubmit={(event) => void add(event)}>
      <div>
        <label htmlFor={`${id}where`} className="mb-1 block font-medium">
          Folder or URL
        </label>
        <TextField
          id={`${id}where`}
          data-first
          value={where}
          required
          spellCheck={false}
          autoComplete="off"
          placeholder="/home/me/garden or https://example.com/garden.git"
          aria-describedby={`${id}help`}
          onChange={(event) => setWhere(event.target.value)}
        />
        <p id={`${id}help`} className="mt-1 text-xs text-fg-2">
          The absolute path of a folder on the server's machine, or a URL that git can clone.
        </p>
      </div>
      <ErrorLine error={error} />
      <div className="flex justify-end">
        <Button type="submit" look="primary" disabled={isBusy || where.trim() === ""}>
          Add project
        </Button>
      </div>
    </form>
  );
}
