// What stands around every page: navigation, the project, the connection, running batches.

import { Outlet, useRouter } from "@tanstack/react-router";
import { useEffect, useMemo } from "react";
import { Toaster } from "sonner";
import { approveOrTell } from "@/actions/approve";
import { inWords } from "@/api/client";
import { useProjects } from "@/api/queries";
import { boardAddress } from "@/app/Go";
import { openOverlay, useOverlays } from "@/app/overlays";
import { useFirstProject } from "@/app/project";
import { BatchStrip } from "@/batch/BatchStrip";
import { ApproveDialog } from "@/board/ApproveDialog";
import { ConsentDialog } from "@/board/Consent";
import { NewTask } from "@/board/NewTask";
import { PushDialog } from "@/board/PushConsent";
import { RunDialog } from "@/board/RunDialog";
import { useTheme } from "@/browser/theme";
import { type Keys, useHotkeys } from "@/keys/hotkeys";
import { Sheet } from "@/keys/Sheet";
import { goLive } from "@/live/live";
import { load } from "@/live/load";
import { isOver } from "@/live/state";
import { useConnection, useWorld } from "@/live/world";
import { Banner } from "@/ui/Banner";
import { Button } from "@/ui/Button";
import { AddProject } from "./AddProject";
import { useNoDrop } from "./drop";
import { Header } from "./Header";
import { Palette } from "./Palette";
import { Outside } from "./pages";
import { Sidebar } from "./Sidebar";
import { useTitle } from "./title";

export function Shell() {
  useEffect(() => goLive(), []);
  useFirstProject();
  useTitle();
  useGoing();
  useNoDrop();
  useShellKeys();
  const { shown } = useTheme();
  const projects = useProjects();
  const locked = useConnection((connection) => connection.error);
  const failure = projects.error && !projects.data ? projects.error : locked?.status === 401 ? locked : null;
  const overlays = useOverlays();
  return (
    <>
      <a
        href="#page"
        className="sr-only focus:not-sr-only focus:absolute focus:left-2 focus:top-2 focus:z-50 focus:bg-overlay focus:p-2"
      >
        Skip to content
      </a>
      <div className="flex h-full flex-col-reverse sm:flex-row">
        <Sidebar />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          <Header />
          <ConnectionBanner />
          <VersionBanner />
          <BatchStrip />
          <main id="page" tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
            {failure ? <Outside error={failure} /> : <Outlet />}
          </main>
        </div>
      </div>
      <NewTask />
      <AddProject />
      <ConsentDialog />
      <PushDialog />
      <ApproveDialog />
      <Sheet />
      {overlays.palette ? <Palette /> : null}
      {overlays.run ? <RunDialog tasks={overlays.run} /> : null}
      <Toaster theme={shown} position="bottom-right" mobileOffset={{ bottom: 64 }} toastOptions={toastLook} />
    </>
  );
}

const toastLook = {
  className: "!bg-overlay !border-line !text-fg !font-sans !text-sm",
  classNames: {
    description: "!text-fg-2",
    actionButton: "!bg-accent !text-on-accent",
    cancelButton: "!bg-hover !text-fg",
  },
};

function ConnectionBanner() {
  const { state, error } = useConnection();
  const isLoaded = useWorld((world) => world.isLoaded);
  if (error?.status === 401 || (error && !isLoaded)) return null;
  if (error && !(error.status === 0 && state === "lost")) {
    return (
      <Banner
        tone="error"
        action={
          <Button size="small" onClick={() => void load()}>
            Reload
          </Button>
        }
      >
        This page may be out of date: {inWords(error)}
      </Banner>
    );
  }
  if (state !== "lost") return null;
  return <Banner>Disconnected from the server. This page may be out of date; reconnecting…</Banner>;
}

function VersionBanner() {
  const isOther = useConnection((connection) => connection.isOtherVersion);
  if (!isOther) return null;
  return (
    <Banner
      action={
        <Button size="small" onClick={() => location.reload()}>
          Reload
        </Button>
      }
    >
      The server runs a different version from this page.
    </Banner>
  );
}

/** Notices ask for pages without knowing the router. */
function useGoing() {
  const router = useRouter();
  useEffect(() => {
    const go = (event: Event) => router.history.push((event as CustomEvent<string>).detail);
    addEventListener("pleach:go", go);
    return () => removeEventListener("pleach:go", go);
  }, [router]);
}

/** Lets the task start that waits, if it is clear which one is meant. */
function approve(): void | false {
  const { project, batches } = useWorld.getState();
  const waiting = [...batches.values()].filter(
    (batch) =>
      batch.projectId === project && !isOver(batch) && batch.tasks.some((task) => task.status === "waiting"),
  );
  const [batch] = waiting;
  if (!batch || waiting.length > 1) return false;
  approveOrTell(batch);
}

/** How long the second key of a pair may take. */
const PAIR_MS = 1000;

function useShellKeys() {
  const router = useRouter();
  const keys = useMemo<Keys>(() => {
    let since = 0;
    const pages: Record<string, "/" | "/batches" | "/settings"> = { b: "/", a: "/batches", s: "/settings" };
    const go = (key: string) => (event: KeyboardEvent) => {
      const page = pages[key];
      if (!page || event.timeStamp - since > PAIR_MS) return false;
      router.history.push(page === "/" ? boardAddress() : page);
    };
    return {
      "ctrl+k": () => openOverlay("palette"),
      "?": () => openOverlay("sheet"),
      c: () => openOverlay("newTask"),
      g: (event) => {
        since = event.timeStamp;
      },
      b: go("b"),
      a: (event) => (go("a")(event) === false ? approve() : undefined),
      s: go("s"),
    };
  }, [router]);
  useHotkeys(keys);
}
