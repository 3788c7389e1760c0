// Writes a new task.

import { answered, api } from "@/api/client";
import { openOverlay, useOverlays } from "@/app/overlays";
import { asked } from "@/live/order";
import { useWorld } from "@/live/world";
import { type Draft, TaskForm } from "@/task/TaskForm";
import { Dialog } from "@/ui/Dialog";
import { toast } from "@/visible/toast";
import { ImportPicker } from "./ImportDrop";

async function add(draft: Draft) {
  const { project } = useWorld.getState();
  if (!project) throw new Error("no project to add it to");
  const task = await asked(
    () => answered(api.POST("/api/tasks", { body: { projectId: project, ...draft } })),
    (made) => ({ type: "tasks", tasks: [made] }),
  );
  toast.success(`Added “${task.title}”`);
  openOverlay("newTask", false);
}

export function NewTask() {
  const open = useOverlays((overlays) => overlays.newTask);
  return (
    <Dialog open={open} onOpenChange={(is) => openOverlay("newTask", is)} title="New task">
      <TaskForm action="Add task" onSave={add}>
        <ImportPicker />
      </TaskForm>
    </Dialog>
  );
}
