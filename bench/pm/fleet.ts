import type { Answer } from "../../apps/package-manager/test/running-pm.ts";
import { echoPackage } from "../../apps/package-manager/test/running-pm.ts";
import { eventually } from "@oaas/testkit";
import { startHelper, type Helper } from "./helper.ts";
import { startMeasuredPm, type MeasuredPm, type MeasuredPmOptions } from "./measured-pm.ts";
import type { ClusterRequest } from "./scripted-clusters.ts";

/** A package manager with scripted clusters in another process, and the package `shop` with one class `Echo`. */
export interface Fleet extends AsyncDisposable {
  readonly pm: MeasuredPm;
  readonly clusters: readonly string[];
  /** The deployments of all units, by cluster. */
  held(): Promise<readonly (readonly string[])[]>;
  /** Waits until this many clusters have a deployment and returns the wall-clock time of the last one. */
  arrival(deployment: string, count: number): Promise<number>;
  /** The last clusters accept connections and never respond. */
  mute(last: number): Promise<void>;
}

const PATIENCE_MS = 120_000;

/** Starts it and waits until all clusters are healthy. */
export async function startFleet(count: number, delayMs: number, options: MeasuredPmOptions = {}): Promise<Fleet> {
  const helper: Helper = startHelper("scripted-clusters.ts");
  const request = <T>(content: ClusterRequest): Promise<T> => helper.request<T>(content);
  const urls = await request<Record<string, string>>({ do: "start", count, delayMs });
  const pm = await startMeasuredPm({ ...options, clusters: urls });
  await eventually(async () => healthy((await pm.call("GET", "/api/v1/clusters/health")).json) === count, {
    timeoutMs: PATIENCE_MS,
    what: `${count} clusters to be healthy`,
  });
  const made = await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
  if (made.status !== 201) throw new Error(made.text);
  return {
    pm,
    clusters: Object.keys(urls),
    held: () => request<readonly (readonly string[])[]>({ do: "list" }),
    arrival: (deployment, count) => request<number>({ do: "arrival", deployment, count }),
    mute: (last) => request<void>({ do: "mute", last }),
    [Symbol.asyncDispose]: async () => {
      await pm[Symbol.asyncDispose]();
      await helper[Symbol.asyncDispose]();
    },
  };
}

function healthy(all: readonly { readonly status: string }[]): number {
  return all.filter(({ status }) => status === "Healthy").length;
}

/** Creates a deployment in these clusters and returns the time until all have accepted it. */
export async function deployed(pm: MeasuredPm, key: string, clusters: readonly string[]): Promise<number> {
  const start = performance.now();
  const response = await deploy(pm, key, clusters);
  if (response.status > 201) throw new Error(`${key}: ${response.status} ${response.text}`);
  return performance.now() - start;
}

/** Creates a deployment and ignores the result. */
export function deploy(pm: MeasuredPm, key: string, clusters: readonly string[]): Promise<Answer> {
  return pm.call("POST", "/api/v1/deployments", {
    body: { key, package_name: "shop", class_key: "Echo", target_envs: clusters },
  });
}
