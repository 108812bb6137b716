import { CrmInfoService } from "@oaas/contracts/grpc";
import type { Clock } from "@oaas/foundation";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import { measureAvailability, witness, type Availability } from "../../availability/availability.ts";
import { capacityOf, isNodeReady, type NodeFacts } from "../../availability/capacity.ts";
import { ReadinessWindow } from "../../availability/readiness-window.ts";
import { omitUndefined } from "../../mapping/omit-empty.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory } from "../../classes/ports.ts";
import type { Leadership } from "../access/leadership.ts";
import type { ClusterReader } from "./kube-cluster-reader.ts";

/** What the service that describes the cluster needs. */
export interface CrmInfoDeps {
  readonly clock: Clock;
  readonly namespaces: NamespaceRules;
  readonly directory: ClassDirectory;
  readonly cluster: ClusterReader;
  readonly leadership: Leadership;
  /** Of this program. */
  readonly version: string;
  /** Without it the default namespace names the cluster. */
  readonly clusterName?: string | undefined;
  /** Such as region and zone. */
  readonly labels: Readonly<Record<string, string>>;
  /** To be reported in place of what is measured. */
  readonly mockAvailability?: number | undefined;
}

/** What callers may rely on beyond the contract of earlier releases. */
const API_FEATURES = ["watch", "explain", "page-token", "revision", "namespace", "upsert", "filters"] as const;

/** Tells health, size and abilities of the cluster, in the words of today and of August 2025. */
export function crmInfoService(deps: CrmInfoDeps): BoundService {
  const window = followReadiness(deps);
  return bindService(CrmInfoService, {
    getEnvHealth: async ({ env }, call) => ({ envName: nameOf(env, deps), ...(await healthOf(call, window, deps)) }),
    getClusterHealth: async ({ cluster }, call) => ({
      clusterName: nameOf(cluster, deps),
      ...(await healthOf(call, window, deps)),
    }),
  });
}

function nameOf(asked: string, { clusterName, namespaces }: CrmInfoDeps): string {
  return asked === "" ? (clusterName ?? namespaces.fallback) : asked;
}

/** Keeps count of the class runtimes that say something of the cluster, as they change. */
function followReadiness({ clock, directory }: CrmInfoDeps): ReadinessWindow {
  const window = new ReadinessWindow(clock);
  const counts = { ready: 0, "not-ready": 0 };
  directory.onChange((change) => {
    const before =
      change.type === "updated"
        ? witness(change.previous)
        : change.type === "deleted"
          ? witness(change.object)
          : undefined;
    const after = change.type === "deleted" ? undefined : witness(change.object);
    if (before !== undefined) counts[before] -= 1;
    if (after !== undefined) counts[after] += 1;
    window.set(counts.ready, counts.ready + counts["not-ready"]);
  });
  return window;
}

async function healthOf(call: Call, window: ReadinessWindow, deps: CrmInfoDeps) {
  const { cluster, namespaces, leadership } = deps;
  const isServing = await cluster.isServing(call.signal);
  // Nobody waits for what a server that does not serve would have to tell.
  const [demand, kubernetesVersion] = isServing
    ? await Promise.all([cluster.demand(call.signal), cluster.kubernetesVersion(call.signal)])
    : [];
  const nodes = cluster.nodes();
  const availability = measureAvailability(nodes, window.read(), deps.mockAvailability);
  const nowMs = deps.clock.now();
  return omitUndefined({
    status: isServing ? statusOf(nodes, deps) : "Unhealthy",
    crmVersion: deps.version,
    lastSeen: { seconds: BigInt(Math.floor(nowMs / 1000)), nanos: (nowMs % 1000) * 1_000_000 },
    nodeCount: nodes?.length,
    readyNodes: nodes?.filter(isNodeReady).length,
    availability: availability.value,
    availabilityBasis: basisOf(availability),
    capacity: nodes === undefined || demand === undefined ? undefined : capacityOf(nodes, demand),
    capabilities: [...cluster.capabilities()],
    kubernetesVersion,
    leader: leadership.isLeading,
    leaderIdentity: leadership.leader,
    apiFeatures: [...API_FEATURES],
    templates: [...cluster.templates()],
    namespaces: namespaces.served === "all" ? [] : [...namespaces.served],
    environments: [...cluster.environments()],
    labels: deps.labels,
    classRuntimeCount: deps.directory.size,
  });
}

/** Healthy while work can be done: peers plan for healthy clusters only, and a few lost nodes are no reason to avoid one. */
function statusOf(nodes: readonly NodeFacts[] | undefined, { cluster, directory }: CrmInfoDeps): string {
  if (cluster.trouble() !== undefined || !directory.isSynced) return "Unhealthy";
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
