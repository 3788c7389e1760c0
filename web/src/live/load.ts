// Fetches the board of the project that is wanted, and again until it is there.

import { answered, api, inWords, Refused } from "@/api/client";
import { keys, projectsQuery, queryClient } from "@/api/queries";
import { toast } from "@/visible/toast";
import { fetchStale } from "./batches";
import { holdNews } from "./news";
import { asked } from "./order";
import { useConnection, useWorld } from "./world";

const PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;

let turn = 0;
let pause = PAUSE_MS;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Shows another project; whether it is shown. */
export function show(project: string): Promise<boolean> {
  useConnection.setState({ wanted: project });
  return load();
}

/** Fetches the board of the wanted project anew; whether that is what is shown then. */
export async function load(): Promise<boolean> {
  const project = useConnection.getState().wanted;
  if (!project) return false;
  turn += 1;
  const mine = turn;
  clearTimeout(timer);
  const release = holdNews();
  try {
    await asked(
      () =>
        Promise.all([
          answered(api.GET("/api/tasks", { params: { query: { project } } })),
          answered(api.GET("/api/batches", { params: { query: { project } } })),
        ]),
      ([{ tasks }, { batches }]) => (mine === turn ? { type: "loaded", project, tasks, batches } : null),
    );
    if (mine !== turn) return false;
    pause = PAUSE_MS;
    useConnection.setState({ error: null });
    return useWorld.getState().project === project;
  } catch (error) {
    if (mine === turn) failed(error instanceof Refused ? error : new Refused(0, { message: inWords(error) }));
    return false;
  } finally {
    release();
    fetchStale();
  }
}

/** Gives up what is under way and wants nothing. */
export function wantNothing() {
  turn += 1;
  clearTimeout(timer);
  useConnection.setState({ wanted: null, error: null });
}

function failed(error: Refused) {
  if (error.status === 404) {
    const { project: shown } = useWorld.getState();
    const { wanted } = useConnection.getState();
    toast.error("This project no longer exists", { description: inWords(error) });
    useConnection.setState({ wanted: shown === wanted ? null : shown, error: null });
    // The list may still have it, and must not be chosen from before the new one is there.
    queryClient.setQueryData(projectsQuery.queryKey, (before) =>
      before?.filter((project) => project.id !== wanted),
    );
    void queryClient.invalidateQueries({ queryKey: keys.projects });
    return;
  }
  useConnection.setState({ error });
  if (error.status !== 0 && error.status < 500) return;
  timer = setTimeout(() => void load(), pause);
  pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
}
