// Writes a new task.

import { answered, api } from "@/api/client";
import { asked } from "@/live/order";
import { useWorld } from "@/live/world";
import { openOverlay, useOverlays } from "@/shell/overlays";
import { Dialog } from "@/ui/Dialog";
import { toast } from "@/visible/toast";
import { ImportPicker } from "./ImportDrop";
import { type Draft, TaskForm } from "./TaskForm";

async function add(draft: Draft) {
  const { project } = useWorld.getState();
  if (!project) throw new Error("there is no project to add it to");
  const task = await asked(
    () => answered(api.POST("/api/tasks", { body: { projectId: project, ...draft } })),
    (made) => ({ type: "tasks", tasks: [made] }),
  );
  toast.success(`“${task.title}” is on the board`);
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
