import {
  FindingLevel,
  HealthCheckResponse_ServingStatus as Serving,
  Verdict,
  type AvailabilityBasis,
  type AvailabilityMeasurement as WireMeasurement,
  type CrmClusterHealth,
  type CrmEnvHealth,
  type Finding,
  type TopologySnapshot,
} from "@oaas/contracts/grpc";
import { omitUndefined, type FindingWire } from "@oaas/contracts/rest";
import { timestamp } from "@oaas/foundation";
import {
  AvailabilitySource,
  ClusterStatus,
  LIST_LIMITS,
  TopologyNodeType,
  type AvailabilityMeasurement,
  type ClusterHealth,
  type ClusterName,
  type Topology,
} from "@oaas/models";
import { offerFromWire } from "./offer-from-wire.ts";
import { nonEmpty } from "./non-empty.ts";

/** A health reading with the local time, because the clock of the cluster may differ. */
export function healthFromWire(
  cluster: ClusterName,
  wire: CrmEnvHealth | CrmClusterHealth,
  nowMs: number,
): ClusterHealth {
  return omitUndefined({
    cluster,
    status: statusFromWire(wire.status),
    crmVersion: wire.crmVersion,
    lastSeen: timestamp(nowMs),
    nodeCount: wire.nodeCount,
    readyNodes: wire.readyNodes,
    availability: clampShare(wire.availability),
    availabilitySource: availabilitySource(wire.availabilityBasis),
    zeroScaleTemplates: zeroScaleTemplates(wire),
    measurement: measurementFromWire(wire.availabilityMeasurement),
    offer: offerFromWire(wire),
    dataPlaneNetwork: nonEmpty(wire.dataPlaneNetwork),
    persistentState: wire.persistentState,
    ...namespacesFromWire(wire),
  });
}

function zeroScaleTemplates(wire: CrmEnvHealth | CrmClusterHealth): readonly string[] | undefined {
  return wire.apiFeatures.includes("scale-to-zero")
    ? wire.zeroScaleTemplates.slice(0, LIST_LIMITS.templates)
    : undefined;
}

/** The namespaces of a manager. Earlier managers ignore the namespace of a request. */
function namespacesFromWire({
  apiFeatures,
  namespaces,
  defaultNamespace,
  rejectedNamespaces,
}: CrmEnvHealth | CrmClusterHealth): Partial<ClusterHealth> {
  if (!apiFeatures.includes("namespace")) return {};
  return omitUndefined({
    acceptsNamespace: true,
    namespaces: nonEmptyList(namespaces),
    defaultNamespace: nonEmpty(defaultNamespace),
    rejectedNamespaces: nonEmptyList(rejectedNamespaces),
  });
}

function nonEmptyList(names: readonly string[]): readonly string[] | undefined {
  return names.length === 0 ? undefined : names.slice(0, LIST_LIMITS.namespaces);
}

/** More evidence than a year is not plausible; it would leave no weight to a prior. */
const MAX_EVIDENCE_HOURS = 8_784;

function measurementFromWire(wire: WireMeasurement | undefined): AvailabilityMeasurement | undefined {
  const value = clampShare(wire?.value);
  const apiAvailability = clampShare(wire?.apiAvailability);
  if (wire === undefined || value === undefined || apiAvailability === undefined) return undefined;
  const windowHours = wire.windowSeconds / 3600;
  const evidenceHours = Math.min(wire.evidenceSeconds / 3600, windowHours, MAX_EVIDENCE_HOURS);
  if (!(evidenceHours > 0)) return undefined;
  return omitUndefined({
    value,
    apiAvailability,
    nodeAvailability: clampShare(wire.nodeAvailability),
    windowHours,
    halfLifeHours: wire.halfLifeSeconds / 3600,
    samples: Number(wire.samples),
    observedHours: Number(wire.observedSeconds) / 3600,
    evidenceHours,
    since: wire.since === undefined ? undefined : timestamp(timestampMs(wire.since)),
  });
}

function timestampMs({ seconds, nanos }: { readonly seconds: bigint; readonly nanos: number }): number {
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

function availabilitySource(basis: AvailabilityBasis | undefined): AvailabilitySource | undefined {
  if (basis === undefined) return undefined;
  if (basis.mocked) return AvailabilitySource.configured;
  return basis.runtimeReadiness === undefined ? AvailabilitySource.readyNodes : AvailabilitySource.measured;
}

/** Clamps to 0 to 1; NaN counts as not reported, so that ready nodes are used instead. */
function clampShare(share: number | undefined): number | undefined {
  return share === undefined || Number.isNaN(share) ? undefined : Math.min(1, Math.max(0, share));
}

/** The health reading of a peer that supports only the standard gRPC health check. */
export function healthFromServing(cluster: ClusterName, serving: Serving, nowMs: number): ClusterHealth {
  const status =
    serving === Serving.SERVING
      ? ClusterStatus.healthy
      : serving === Serving.NOT_SERVING
        ? ClusterStatus.unhealthy
        : ClusterStatus.unknown;
  return { cluster, status, lastSeen: timestamp(nowMs) };
}

/** Unknown words of other peers are `unknown`. */
function statusFromWire(word: string): ClusterStatus {
  const known = Object.values(ClusterStatus).find((status) => status === word.toLowerCase());
  return known ?? ClusterStatus.unknown;
}

/** The topology of one cluster, without nodes of unknown types and their edges. */
export function topologyFromWire(wire: TopologySnapshot, nowMs: number): Topology {
  const known = new Set<string>(Object.values(TopologyNodeType));
  const nodes = wire.nodes.filter(({ nodeType }) => known.has(nodeType));
  const ids = new Set(nodes.map(({ id }) => id));
  const at = wire.timestamp;
  return {
    nodes: nodes.map(({ id, nodeType, status, metadata, deployedClasses }) => ({
      id,
      nodeType: nodeType as TopologyNodeType,
      status,
      metadata,
      deployedClasses,
    })),
    edges: wire.edges
      .filter(({ fromId, toId }) => ids.has(fromId) && ids.has(toId))
      .map(({ fromId, toId, metadata }) => ({ from: fromId, to: toId, metadata })),
    timestamp: timestamp(at === undefined ? nowMs : timestampMs(at)),
  };
}

const VERDICTS: Readonly<Record<number, FindingWire["verdict"]>> = {
  [Verdict.UNSPECIFIED]: "transient",
  [Verdict.HEALTHY]: "healthy",
  [Verdict.TRANSIENT]: "transient",
  [Verdict.PERMANENT]: "permanent",
};

const LEVELS: Readonly<Record<number, FindingWire["level"]>> = {
  [FindingLevel.UNSPECIFIED]: "class",
  [FindingLevel.CLASS]: "class",
  [FindingLevel.FUNCTION]: "function",
  [FindingLevel.ODGM]: "odgm",
  [FindingLevel.WORKLOAD]: "workload",
  [FindingLevel.POD]: "pod",
  [FindingLevel.NODE]: "node",
  [FindingLevel.EVENT]: "event",
};

/** A tree of findings in the JSON of the REST API. */
export function findingFromWire(finding: Finding): FindingWire {
  const { resource } = finding;
  return {
    level: LEVELS[finding.level] ?? "class",
    name: finding.name,
    resource: resource
      ? { kind: resource.kind, name: resource.name, namespace: resource.namespace ?? null, uid: resource.uid ?? null }
      : null,
    verdict: VERDICTS[finding.verdict] ?? "transient",
    reason: finding.reason,
    message: finding.message,
    suggested_action: finding.suggestedAction,
    since: finding.since ?? null,
    count: finding.count ?? null,
    causes: finding.causes.map(findingFromWire),
  };
}
