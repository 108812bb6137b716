import {
  availabilityPrior,
  clusterAvailabilityToWire,
  clusterCost,
  clusterHealthToWire,
  drainProgress,
  componentUsage,
  HEADERS,
  type clusterRegistrationView,
} from "@oaas/contracts/rest";
import { notFound, type Clock } from "@oaas/foundation";
import { estimateAvailability, type ClusterName } from "@oaas/models";
import type { z } from "zod";
import { registrationOf } from "../../clusters/configuration/clusters-json.ts";
import { estimateText } from "../../planner/explanation/estimate-text.ts";
import type { ClusterDirectory, ClusterEntry, HealthReading } from "../../ports.ts";
import type { ClusterAdmin, Cordons, Drains, StatusReader } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import { limitRemaining, limitUsage } from "../presenters/limited-entries.ts";
import type { Parameters } from "./parameters.ts";

/** Handlers of clusters. */
export function clusterHandlers(
  directory: ClusterDirectory,
  { admin, cordons, drains }: { readonly admin: ClusterAdmin; readonly cordons: Cordons; readonly drains: Drains },
  status: Pick<StatusReader, "usage">,
  clock: Clock,
): HandlersOf<"clusters"> {
  const entryOf = (parameters: Parameters): ClusterEntry => {
    const name = parameters["name"] as ClusterName;
    const entry = directory.get(name);
    if (!entry) throw notFound("cluster", name);
    return entry;
  };
  return {
    listClusters: async ({ call }) => {
      const readings = await directory.readings(call);
      return json(
        readings.map((reading) => ({
          name: reading.cluster,
          health: healthToWire(reading),
          ...cordonToWire(directory.get(reading.cluster)),
        })),
      );
    },
    listClusterHealth: async ({ call }) => json((await directory.readings(call)).map(healthToWire)),
    getClusterHealth: async ({ parameters, call }) =>
      json(healthToWire(await directory.reading(entryOf(parameters).name, call))),
    getCluster: async ({ parameters, call }) => {
      const entry = entryOf(parameters);
      return json(registrationToWire(entry, await directory.reading(entry.name, call)));
    },
    getClusterAvailability: async ({ parameters, call }) => {
      const entry = entryOf(parameters);
      return json(availabilityToWire(entry, await directory.reading(entry.name, call), clock.now()));
    },
    getClusterUsage: async ({ parameters, query, call }) => {
      const usage = await status.usage(entryOf(parameters).name, call);
      return json(limitUsage(usage, query.max_entries).map((one) => componentUsage.toJson(one)));
    },
    addCluster: async ({ body, call, idempotency }) => {
      const entry = await admin.add(registrationOf(body), call, { idempotency });
      const location = `/api/v1/clusters/${encodeURIComponent(entry.name)}`;
      const registered = registrationToWire(entry, await directory.reading(entry.name, call));
      return json(registered, { [HEADERS.location]: location }, 201);
    },
    removeCluster: async ({ parameters, call }) => {
      await admin.remove(parameters["name"] as ClusterName, call);
      return { status: 204 };
    },
    cordonCluster: async ({ parameters, body, call }) => {
      const { name } = entryOf(parameters);
      const { reason = call.reason } = body;
      await cordons.cordon(name, { ...call, ...(reason === undefined ? {} : { reason }) });
      return json(registrationToWire(entryOf(parameters), await directory.reading(name, call)));
    },
    drainCluster: async ({ parameters, body, call }) => {
      const { name } = entryOf(parameters);
      const { reason = call.reason, allow_state_loss: allowsStateLoss } = body;
      await cordons.drain(name, { ...call, allowsStateLoss, ...(reason === undefined ? {} : { reason }) });
      return json(drainProgress.toJson(await drains.progress(name)));
    },
    getClusterDrain: async ({ parameters, query }) => {
      const progress = await drains.progress(entryOf(parameters).name);
      return json(drainProgress.toJson(limitRemaining(progress, query.max_entries)));
    },
    uncordonCluster: async ({ parameters, call }) => {
      const { name } = entryOf(parameters);
      await cordons.uncordon(name);
      return json(registrationToWire(entryOf(parameters), await directory.reading(name, call)));
    },
  };
}

function healthToWire({ health, error }: HealthReading): ReturnType<typeof clusterHealthToWire> {
  return clusterHealthToWire(health, error);
}

function availabilityToWire(
  { name, availability: promise }: ClusterEntry,
  { health, takenAtMs }: HealthReading,
  nowMs: number,
): ReturnType<typeof clusterAvailabilityToWire> {
  const estimate = takenAtMs === undefined ? undefined : estimateAvailability(health, promise);
  const { measurement } = health;
  return clusterAvailabilityToWire({
    cluster: name,
    promise,
    measurement,
    estimate,
    arithmetic:
      estimate === undefined ? "unknown: the cluster has not reported anything" : estimateText(estimate, measurement),
    ageMs: takenAtMs === undefined ? undefined : Math.max(0, nowMs - takenAtMs),
  });
}

function registrationToWire(entry: ClusterEntry, reading: HealthReading): z.output<typeof clusterRegistrationView> {
  const {
    name,
    url,
    labels,
    timeoutMs,
    retryAttempts,
    tls,
    origin,
    availability,
    cost,
    defaultNamespace,
    allowedNamespaces,
  } = entry;
  const timeout = timeoutMs === undefined ? null : Math.round(timeoutMs / 1000);
  return {
    name,
    url,
    labels,
    timeout,
    retry_attempts: retryAttempts,
    tls,
    origin,
    health: healthToWire(reading),
    ...cordonToWire(entry),
    ...(availability === undefined ? {} : { availability: availabilityPrior.toJson(availability) }),
    ...(cost === undefined ? {} : { cost: clusterCost.toJson(cost) }),
    ...(defaultNamespace === undefined ? {} : { default_namespace: defaultNamespace }),
    ...(allowedNamespaces === undefined ? {} : { allowed_namespaces: allowedNamespaces }),
  };
}

function cordonToWire(entry: ClusterEntry | undefined): Pick<z.output<typeof clusterRegistrationView>, "cordon"> {
  if (entry?.cordon === undefined) return {};
  const { drain, ...cordon } = entry.cordon;
  return { cordon: { ...cordon, ...(drain === undefined ? {} : { draining: true as const }) } };
}
