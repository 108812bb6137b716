import { useQuery, useQueryClient } from "@tanstack/react-query";
import { call, fetchValue } from "../../api/client.ts";
import type { Deployment } from "../../api/contract.ts";

export interface Versioned<T> {
  readonly value: T;
  readonly etag: string | undefined;
}

export async function fetchDeployment(key: string, signal?: AbortSignal): Promise<Versioned<Deployment>> {
  const { value, etag } = await call("getDeployment", { path: { key }, signal });
  return { value, etag: etag ?? undefined };
}

/** The deployment with its version, which actions send so that they never act on another state than the one shown. */
export function useDeployment(key: string, enabled = true) {
  return useQuery({
    enabled,
    queryKey: ["deployment", key, "desired"],
    queryFn: ({ signal }) => fetchDeployment(key, signal),
  });
}

export function useDeploymentStatus(key: string) {
  return useQuery({
    queryKey: ["deployment", key, "status"],
    queryFn: ({ signal }) => fetchValue("getDeploymentStatus", { path: { key }, signal }),
  });
}

/** Fetches a deployment again after an action, without waiting for its events. */
export function useRefreshDeployment(key: string): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["deployment", key] }),
      queries.invalidateQueries({ queryKey: ["deployments"] }),
    ]);
  };
}
