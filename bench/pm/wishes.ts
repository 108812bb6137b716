import type { Answer } from "../../apps/package-manager/test/running-pm.ts";
import { echoPackage } from "../../apps/package-manager/test/running-pm.ts";
import { eventually } from "@oaas/testkit";
import { startHelper, type Helper } from "./helper.ts";
import { startMeasuredPm, type MeasuredPm, type MeasuredPmOptions } from "./measured-pm.ts";
import type { ClusterQuestion } from "./scripted-clusters.ts";

/** A package manager over scripted clusters in another process, with the package `shop` of one class `Echo`. */
export interface Fleet extends AsyncDisposable {
  readonly pm: MeasuredPm;
  readonly clusters: readonly string[];
  /** The deployment of each unit that it holds, by cluster. */
  held(): Promise<readonly (readonly string[])[]>;
  /** When on the wall clock the last of so many clusters took a deployment; waits for it. */
  arrival(deployment: string, count: number): Promise<number>;
  /** The last ones accept connections and never answer on them. */
  mute(last: number): Promise<void>;
}

const PATIENCE_MS = 120_000;

/** Starts it; all clusters are known to be healthy when this returns. */
export async function startFleet(count: number, delayMs: number, options: MeasuredPmOptions = {}): Promise<Fleet> {
  const helper: Helper = startHelper("scripted-clusters.ts");
  const ask = <T>(question: ClusterQuestion): Promise<T> => helper.ask<T>(question);
  const urls = await ask<Record<string, string>>({ do: "start", count, delayMs });
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
    held: () => ask<readonly (readonly string[])[]>({ do: "tell" }),
    arrival: (deployment, count) => ask<number>({ do: "arrival", deployment, count }),
    mute: (last) => ask<void>({ do: "mute", last }),
    [Symbol.asyncDispose]: async () => {
      await pm[Symbol.asyncDispose]();
      await helper[Symbol.asyncDispose]();
    },
  };
}

function healthy(all: readonly { readonly status: string }[]): number {
  return all.filter(({ status }) => status === "Healthy").length;
}

/** Asks for a deployment in these clusters, and answers how long it took to be accepted by all of them. */
export async function deployed(pm: MeasuredPm, key: string, clusters: readonly string[]): Promise<number> {
  const start = performance.now();
  const answer = await deploy(pm, key, clusters);
  if (answer.status > 201) throw new Error(`${key}: ${answer.status} ${answer.text}`);
  return performance.now() - start;
}

/** Asks for it, whatever comes of it. */
export function deploy(pm: MeasuredPm, key: string, clusters: readonly string[]): Promise<Answer> {
  return pm.call("POST", "/api/v1/deployments", {
    body: { key, package_name: "shop", class_key: "Echo", target_envs: clusters },
  });
}
