// Which address shows what. Heavy pages are loaded when they are opened.

import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Board } from "./board/Board";
import { ErrorPage, NotFound } from "./shell/pages";
import { Shell } from "./shell/Shell";
import { Loading } from "./ui/Skeleton";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: ErrorPage });

const routes = [
  createRoute({ getParentRoute: () => root, path: "/", component: Board }),
  createRoute({
    getParentRoute: () => root,
    path: "/tasks/$id",
    component: lazyRouteComponent(() => import("./task/TaskPage"), "TaskPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/batches",
    component: lazyRouteComponent(() => import("./batch/History"), "History"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/batches/$id",
    component: lazyRouteComponent(() => import("./batch/BatchPage"), "BatchPage"),
  }),
  createRoute({
    getParentRoute: () => root,
    path: "/settings",
    component: lazyRouteComponent(() => import("./settings/Settings"), "Settings"),
  }),
];

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPendingComponent: Loading,
  defaultErrorComponent: ErrorPage,
  defaultPendingMs: 200,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
