import {
  classRuntimeToWire,
  clusterHealthToWire,
  HEADERS,
  topologyToWire,
  type clusterRegistrationView,
} from "@oaas/contracts/rest";
import { invalidArgument, notFound } from "@oaas/foundation";
import type { ClusterName, UnitId } from "@oaas/models";
import type { z } from "zod";
import { registrationOf } from "../../clusters/configuration/clusters-json.ts";
import type { ClusterDirectory, ClusterEntry, HealthReading } from "../../ports.ts";
import type { ClusterAdmin, StatusReader } from "../../use-cases.ts";
import { json, type Handlers } from "../handler.ts";
import { unitStatusToWire } from "../presenters/deployment-status.ts";
import { clusterIn } from "./deployments.ts";
import { conditionIn } from "./conditions.ts";
import { pageHeaders, pageRequestOf } from "./paging.ts";

type ClusterOperation =
  | "listClusters"
  | "listClusterHealth"
  | "getClusterHealth"
  | "addCluster"
  | "getCluster"
  | "removeCluster"
  | "listClassRuntimes"
  | "getClassRuntime"
  | "getUnitStatus"
  | "getTopology";

/** The clusters, and what runs in them. */
export function clusterHandlers(
  directory: ClusterDirectory,
  admin: ClusterAdmin,
  status: StatusReader,
): Handlers<ClusterOperation> {
  const entryOf = (parameters: Readonly<Record<string, string>>): ClusterEntry => {
    const name = parameters["name"] as ClusterName;
    const entry = directory.get(name);
    if (!entry) throw notFound("cluster", name);
    return entry;
  };
  return {
    listClusters: async ({ call }) =>
      json(
        (await directory.readings(call)).map(({ cluster, health, error }) => ({
          name: cluster,
          health: clusterHealthToWire(health, error),
        })),
      ),
    listClusterHealth: async ({ call }) =>
      json((await directory.readings(call)).map(({ health, error }) => clusterHealthToWire(health, error))),
    getClusterHealth: async ({ parameters, call }) => {
      const { health, error } = await directory.reading(entryOf(parameters).name, call);
      return json(clusterHealthToWire(health, error));
    },
    getCluster: async ({ parameters, call }) => {
      const entry = entryOf(parameters);
      return json(registrationToWire(entry, await directory.reading(entry.name, call)));
    },
    addCluster: async ({ body, call, once }) => {
      const entry = await admin.add(registrationOf(body), call, { once });
      const location = `/api/v1/clusters/${encodeURIComponent(entry.name)}`;
      const registered = registrationToWire(entry, await directory.reading(entry.name, call));
      return json(registered, { [HEADERS.location]: location }, 201);
    },
    removeCluster: async ({ parameters, call }) => {
      await admin.remove(parameters["name"] as ClusterName, call);
      return { status: 204 };
    },
    listClassRuntimes: async ({ query }) => {
      const { package_name: packageName, class_key: classKey, environment, status: wanted } = query;
      const cluster = clusterIn(query);
      const page = await status.runtimes({
        ...pageRequestOf(query),
        ...(packageName === undefined ? {} : { packageName }),
        ...(classKey === undefined ? {} : { classKey }),
        ...(environment === undefined ? {} : { environment }),
        ...(wanted === undefined ? {} : { condition: conditionIn("status", wanted) }),
        ...(cluster === undefined ? {} : { cluster }),
      });
      return json(page.items.map(classRuntimeToWire), {
        ...pageHeaders(page),
        ...(page.missing.length === 0 ? {} : { [HEADERS.missingClusters]: page.missing.join(",") }),
      });
    },
    getClassRuntime: async ({ parameters, query }) =>
      json(classRuntimeToWire(await status.unit(parameters["id"] as UnitId, clusterIn(query)))),
    getUnitStatus: async ({ parameters, query }) =>
      json(unitStatusToWire(await status.unit(parameters["id"] as UnitId, clusterIn(query)))),
    getTopology: async ({ query }) => json(topologyToWire(await status.topology(sourceOf(query.source)))),
  };
}

function registrationToWire(
  entry: ClusterEntry,
  { health, error }: HealthReading,
): z.output<typeof clusterRegistrationView> {
  return {
    name: entry.name,
    url: entry.url,
    labels: entry.labels,
    timeout: entry.timeoutMs === undefined ? null : Math.round(entry.timeoutMs / 1000),
    retry_attempts: entry.retryAttempts,
    tls: entry.tls,
    origin: entry.origin,
    health: clusterHealthToWire(health, error),
  };
}

function sourceOf(source: string | undefined): "deployments" | "zenoh" {
  if (source === undefined || source === "deployments") return "deployments";
  if (source === "zenoh") return "zenoh";
  throw invalidArgument("the query", [
    { path: "$.source", message: `"${source}" is no source of topology`, fix: "use deployments or zenoh" },
  ]);
}
