// What is asked for once and kept: projects, settings, agents.

import { QueryClient, queryOptions, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { answered, api, Refused, type Settings, type SettingsChange } from "./client";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (failures, error) =>
        failures < 2 && !(error instanceof Refused && error.status >= 400 && error.status < 500),
    },
  },
});

export const keys = {
  projects: ["projects"] as const,
  agents: (project: string) => ["agents", project] as const,
  clusters: (project: string) => ["clusters", project] as const,
  settings: (project: string) => ["settings", project] as const,
};

export const projectsQuery = queryOptions({
  queryKey: keys.projects,
  queryFn: async () => (await answered(api.GET("/api/projects"))).projects,
});

export function useProjects() {
  return useQuery(projectsQuery);
}

export function useAgents(project: string | undefined, enabled = true) {
  return useQuery({
    queryKey: keys.agents(project ?? ""),
    enabled,
    // Whoever opens a page that shows them may just have installed one.
    refetchOnMount: "always",
    queryFn: async () =>
      (await answered(api.GET("/api/agents", { params: { query: project ? { project } : {} } }))).agents,
  });
}

/** Where batches can run; more than this machine only if there is a cluster. */
export function useClusters(project: string | undefined) {
  return useQuery({
    queryKey: keys.clusters(project ?? ""),
    refetchOnMount: "always",
    queryFn: async () =>
      (await answered(api.GET("/api/clusters", { params: { query: project ? { project } : {} } }))).clusters,
  });
}

export function useSettings(project: string | undefined) {
  return useQuery({
    queryKey: keys.settings(project ?? ""),
    // Nobody tells when a project's file was edited.
    refetchOnMount: "always",
    queryFn: () => answered(api.GET("/api/settings", { params: { query: project ? { project } : {} } })),
  });
}

/** Saves a setting; the page shows it at once and takes it back if the server refuses. */
export function useSaveSettings(project: string | undefined) {
  const client = useQueryClient();
  const key = keys.settings(project ?? "");
  return useMutation({
    mutationFn: (change: SettingsChange) =>
      answered(api.PATCH("/api/settings", { params: { query: project ? { project } : {} }, body: change })),
    onMutate: async (change) => {
      await client.cancelQueries({ queryKey: key });
      const before = client.getQueryData<Settings>(key);
      if (before) {
        client.setQueryData(key, { ...before, ...change });
      }
      return { before };
    },
    onError: (_error, _change, kept) => client.setQueryData(key, kept?.before),
    onSuccess: (settings) => client.setQueryData(key, settings),
  });
}
