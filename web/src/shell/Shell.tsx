// What stands around every page: navigation, the project, the connection, running batches.

import { Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { Toaster } from "sonner";
import { useProjects } from "@/api/queries";
import { BatchStrip } from "@/batch/BatchStrip";
import { ConsentDialog } from "@/board/Consent";
import { NewTask } from "@/board/NewTask";
import { RunDialog } from "@/board/RunDialog";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { Sheet } from "@/keys/Sheet";
import { goLive, useConnection, useWorld } from "@/live/world";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { TooltipProvider } from "@/ui/Tooltip";
import { Header } from "./Header";
import { openOverlay, useOverlays } from "./overlays";
import { Palette } from "./Palette";
import { Outside } from "./pages";
import { useFirstProject } from "./project";
import { Sidebar } from "./Sidebar";
import { useTheme } from "./theme";

export function Shell() {
  useEffect(() => goLive(), []);
  useFirstProject();
  useTitle();
  useGoing();
  useShellKeys();
  const { shown } = useTheme();
  const projects = useProjects();
  const locked = useConnection((connection) => connection.error);
  const failure = projects.error && !projects.data ? projects.error : locked?.status === 401 ? locked : null;
  const overlays = useOverlays();
  return (
    <TooltipProvider delayDuration={400}>
      <a href="#page" className="sr-only focus:not-sr-only focus:absolute focus:left-2 focus:top-2 focus:z-50 focus:bg-overlay focus:p-2">
        Skip to the page
      </a>
      <div className="flex h-full flex-col-reverse sm:flex-row">
        <Sidebar />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          <Header />
          <ConnectionBanner />
          <BatchStrip />
          <main id="page" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
            {failure ? <Outside error={failure} /> : <Outlet />}
          </main>
        </div>
      </div>
      <NewTask />
      <ConsentDialog />
      <Sheet />
      {overlays.palette ? <Palette /> : null}
      {overlays.run ? <RunDialog tasks={overlays.run} /> : null}
      <Toaster theme={shown} position="bottom-right" mobileOffset={{ bottom: 64 }} toastOptions={{ className: "!bg-overlay !border-line !text-fg !font-sans !text-sm" }} />
    </TooltipProvider>
  );
}

function ConnectionBanner() {
  const { state, error } = useConnection();
  if (error && error.status !== 401) {
    return (
      <Banner tone="error" action={<Button size="small" onClick={() => location.reload()}>Load again</Button>}>
        {error.message}
      </Banner>
    );
  }
  if (state !== "lost") return null;
  return <Banner>Disconnected from the server. What you see may be old; reconnecting…</Banner>;
}

/** The title says how many tasks need a person. */
function useTitle() {
  const needed = useWorld((world) => world.columns.needs_you.length);
  const running = useWorld((world) => world.columns.in_progress.length);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => {
    const page = path.startsWith("/settings") ? "Settings" : path.startsWith("/batches") ? "Batches" : path.startsWith("/tasks") ? "Task" : "Board";
    const badge = needed > 0 ? `(${needed}) ` : running > 0 ? "▸ " : "";
    document.title = `${badge}${page} · Pleach`;
  }, [needed, running, path]);
}

/** Notices ask for pages without knowing the router. */
function useGoing() {
  const navigate = useNavigate();
  useEffect(() => {
    const go = (event: Event) => void navigate({ to: (event as CustomEvent<string>).detail });
    addEventListener("pleach:go", go);
    return () => removeEventListener("pleach:go", go);
  }, [navigate]);
}

/** How long the second key of a pair may take. */
const PAIR_MS = 1000;

function useShellKeys() {
  const navigate = useNavigate();
  const keys = useMemo<Keys>(() => {
    let since = 0;
    const pages: Record<string, "/" | "/batches" | "/settings"> = { b: "/", a: "/batches", s: "/settings" };
    const go = (key: string) => (event: KeyboardEvent) => {
      const page = pages[key];
      if (!page || event.timeStamp - since > PAIR_MS) return false;
      void navigate({ to: page });
    };
    return {
      "ctrl+k": () => openOverlay("palette"),
      "?": () => openOverlay("sheet"),
      c: () => openOverlay("newTask"),
      g: (event) => {
        since = event.timeStamp;
      },
      b: go("b"),
      a: go("a"),
      s: go("s"),
    };
  }, [navigate]);
  useHotkeys(keys);
}
