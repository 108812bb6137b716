import { CrmInfoService } from "@oaas/contracts/grpc";
import type { Clock } from "@oaas/foundation";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import { measureAvailability, readinessSignal, type Availability } from "../../availability/availability.ts";
import { HALF_LIFE_DAYS, WINDOW_DAYS, type AvailabilityMeasurement } from "../../availability/availability-history.ts";
import { capacityOf, isNodeReady, type NodeFacts } from "../../availability/capacity.ts";
import { nodeShapes, type NodeShape } from "../../availability/node-shapes.ts";
import { ReadinessWindow } from "../../availability/readiness-window.ts";
import { omitUndefined } from "../../mapping/omit-empty.ts";
import { defaultNamespace, rejectedNamespaces, type NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory } from "../../classes/ports.ts";
import type { Leadership } from "../access/leadership.ts";
import type { ClusterReader } from "./kube-cluster-reader.ts";
import type { UsageReader } from "./kube-usage-reader.ts";

/** Dependencies of CrmInfoService. */
export interface CrmInfoDeps {
  readonly clock: Clock;
  readonly namespaces: NamespaceRules;
  readonly directory: ClassDirectory;
  readonly cluster: ClusterReader;
  readonly leadership: Leadership;
  readonly usage: UsageReader;
  /** Version of the manager. */
  readonly version: string;
  /** Default: the default namespace. */
  readonly clusterName?: string | undefined;
  /** Such as region and zone. */
  readonly labels: Readonly<Record<string, string>>;
  /** Clusters of one network share their state stores; undefined: a network of its own. */
  readonly dataPlaneNetwork?: string | undefined;
  /** Whether the state store keeps objects on volumes. */
  readonly persistentState?: boolean;
  /** Replaces the measured availability. */
  readonly mockAvailability?: number | undefined;
  /** The measurement that survives restarts; undefined before the first observation. */
  readonly measuredAvailability?: () => AvailabilityMeasurement | undefined;
}

/** API features beyond the contract of earlier releases. */
const API_FEATURES = [
  "watch",
  "explain",
  "page-token",
  "revision",
  "namespace",
  "upsert",
  "filters",
  "scale-to-zero",
  "render",
  "usage",
  "inspection",
  "state-objects",
] as const;

/** CrmInfoService: health, capacity and capabilities of the cluster, in the current and the earlier form. */
export function crmInfoService(deps: CrmInfoDeps): BoundService {
  const window = trackReadiness(deps);
  return bindService(CrmInfoService, {
    getEnvHealth: async ({ env }, call) => ({ envName: nameOf(env, deps), ...(await healthOf(call, window, deps)) }),
    getClusterHealth: async ({ cluster }, call) => ({
      clusterName: nameOf(cluster, deps),
      ...(await healthOf(call, window, deps)),
    }),
    getUsage: async (_request, call) => ({ components: [...(await deps.usage(call.signal))] }),
  });
}

function nameOf(requested: string, { clusterName, namespaces }: CrmInfoDeps): string {
  return requested === "" ? (clusterName ?? namespaces.fallback) : requested;
}

/** Counts the ready and not ready class runtimes over a sliding window. */
function trackReadiness({ clock, directory }: CrmInfoDeps): ReadinessWindow {
  const window = new ReadinessWindow(clock);
  const counts = { ready: 0, "not-ready": 0 };
  directory.onChange((change) => {
    const before =
      change.type === "updated"
        ? readinessSignal(change.previous)
        : change.type === "deleted"
          ? readinessSignal(change.object)
          : undefined;
    const after = change.type === "deleted" ? undefined : readinessSignal(change.object);
    if (before !== undefined) counts[before] -= 1;
    if (after !== undefined) counts[after] += 1;
    window.set(counts.ready, counts.ready + counts["not-ready"]);
  });
  return window;
}

async function healthOf(call: Call, window: ReadinessWindow, deps: CrmInfoDeps) {
  const { cluster, namespaces, leadership } = deps;
  const isServing = await cluster.isServing(call.signal);
  // An API that is not ready would only delay the response.
  const [demand, kubernetesVersion] = isServing
    ? await Promise.all([cluster.demand(call.signal), cluster.kubernetesVersion(call.signal)])
    : [];
  const nodes = cluster.nodes();
  const availability = measureAvailability(nodes, window.read(), deps.mockAvailability);
  const nowMs = deps.clock.now();
  return omitUndefined({
    status: isServing ? statusOf(nodes, deps) : "Unhealthy",
    crmVersion: deps.version,
    lastSeen: timestampOf(nowMs),
    nodeCount: nodes?.length,
    readyNodes: nodes?.filter(isNodeReady).length,
    availability: availability.value,
    availabilityBasis: basisOf(availability),
    availabilityMeasurement: availability.mocked ? undefined : measurementOf(deps.measuredAvailability?.()),
    capacity:
      nodes === undefined || demand === undefined
        ? undefined
        : { ...capacityOf(nodes, demand), shapes: nodeShapes(nodes, demand).map(shapeToWire) },
    capabilities: [...cluster.capabilities()],
    kubernetesVersion,
    leader: leadership.isLeading,
    leaderIdentity: leadership.leader,
    apiFeatures: [...API_FEATURES],
    templates: [...cluster.templates()],
    zeroScaleTemplates: [...cluster.zeroScaleTemplates()],
    namespaces: namespaces.served === "all" ? [] : [...namespaces.served],
    defaultNamespace: defaultNamespace(namespaces),
    rejectedNamespaces: [...rejectedNamespaces(namespaces)],
    environments: [...cluster.environments()],
    labels: deps.labels,
    classRuntimeCount: deps.directory.size,
    dataPlaneNetwork: deps.dataPlaneNetwork,
    persistentState: deps.persistentState ?? false,
  });
}

function shapeToWire({ extendedResources, ...shape }: NodeShape) {
  return { ...shape, extendedResources: [...extendedResources] };
}

/** Healthy as long as at least half of the nodes are ready: package managers place classes on healthy clusters only. */
function statusOf(nodes: readonly NodeFacts[] | undefined, { cluster, directory }: CrmInfoDeps): string {
  if (cluster.apiFault() !== undefined || !directory.isSynced) return "Unhealthy";
  if (nodes === undefined) return "Healthy";
  const ready = nodes.filter(isNodeReady).length;
  if (ready === 0) return "Unhealthy";
  return ready * 2 < nodes.length ? "Degraded" : "Healthy";
}

function basisOf({ nodeRatio, readiness, mocked }: Availability) {
  return omitUndefined({
    nodeRatio,
    runtimeReadiness: readiness.ratio,
    windowSeconds: Math.round(readiness.windowMs / 1000),
    samples: readiness.samples,
    mocked,
  });
}

const DAY_SECONDS = 86_400;

function measurementOf(measured: AvailabilityMeasurement | undefined) {
  if (measured === undefined) return undefined;
  const { value, apiAvailability, nodeAvailability, samples, observedMs, evidenceMs, sinceMs } = measured;
  return omitUndefined({
    value,
    apiAvailability,
    nodeAvailability,
    windowSeconds: WINDOW_DAYS * DAY_SECONDS,
    halfLifeSeconds: HALF_LIFE_DAYS * DAY_SECONDS,
    samples: BigInt(samples),
    observedSeconds: BigInt(Math.round(observedMs / 1000)),
    evidenceSeconds: evidenceMs / 1000,
    since: timestampOf(sinceMs),
  });
}

function timestampOf(ms: number) {
  return { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 };
}
