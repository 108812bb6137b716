/** Scripted clusters, many in one process, outside of the manager under measurement. */
import { ScriptedCrm } from "../../apps/package-manager/test/fakes/scripted-crm.ts";
import { RUNNING } from "../../apps/package-manager/test/fakes/scripted-units.ts";
import { serveRequests } from "./helper.ts";

export type ClusterRequest =
  /** Starts clusters and returns their addresses; Deploy and Delete take `delayMs`. */
  | { readonly do: "start"; readonly count: number; readonly delayMs: number }
  /** The last clusters accept connections and never respond. */
  | { readonly do: "mute"; readonly last: number }
  /** Waits until this many clusters have a deployment and returns the wall-clock time of the last one. */
  | { readonly do: "arrival"; readonly deployment: string; readonly count: number }
  /** Returns the deployments of each cluster. */
  | { readonly do: "list" };

const clusters: ScriptedCrm[] = [];
const arrivals = new Map<string, number[]>();
const waiting = new Set<() => void>();

function arrived(deployment: string): void {
  arrivals.set(deployment, [...(arrivals.get(deployment) ?? []), performance.timeOrigin + performance.now()]);
  for (const look of waiting) look();
}

function arrival(deployment: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    const look = (): void => {
      const last = arrivals.get(deployment)?.[count - 1];
      if (last === undefined) return;
      waiting.delete(look);
      resolve(last);
    };
    waiting.add(look);
    look();
  });
}

serveRequests(async (request: ClusterRequest): Promise<unknown> => {
  switch (request.do) {
    case "start": {
      const added = await Promise.all(
        Array.from({ length: request.count }, (_, index) =>
          ScriptedCrm.start({ name: `c${String(clusters.length + index).padStart(3, "0")}` }),
        ),
      );
      for (const crm of added)
        crm.units.settle = ({ deploymentKey = "" }) => {
          arrived(deploymentKey);
          return RUNNING;
        };
      if (request.delayMs > 0)
        for (const crm of added) crm.always({ do: "slow", ms: request.delayMs }, "Deploy", "DeleteDeployment");
      clusters.push(...added);
      return Object.fromEntries(added.map((crm) => [crm.facts.name, crm.url]));
    }
    case "mute":
      for (const crm of clusters.slice(-request.last)) crm.mute();
      return undefined;
    case "arrival":
      return arrival(request.deployment, request.count);
    case "list":
      return clusters.map((crm) => crm.units.all().map(({ unit }) => unit.deploymentKey ?? ""));
  }
});
