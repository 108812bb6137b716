import type { ClassState, ClusterState } from "./clusters/cluster-state.ts";
import type { DeploymentState, PackageManagerState } from "./platform/platform-state.ts";

/** How everything in the stack is. */
export interface StackState {
  readonly packageManager: PackageManagerState;
  readonly clusters: readonly ClusterState[];
}

/** One part of the platform, and how it is in this stack. */
export interface Part {
  readonly name: string;
  readonly what: string;
  readonly state: PartState;
}

/** off: this build has it and this start was told to leave it out. absent: this build does not have it. */
export type PartState = "running" | "starting" | "failed" | "off" | "absent";

/** In words, for people. */
export const STATE_WORDS: Readonly<Record<PartState, string>> = {
  running: "running",
  starting: "starting",
  failed: "failed",
  off: "switched off",
  absent: "not in the stack yet",
};

/** What the local stack consists of. A part is listed as running only when this process really runs it. */
export function partsOf({ packageManager, clusters }: StackState): readonly Part[] {
  const { state, url, detail, deployments } = packageManager;
  return [
    {
      name: "Durable store",
      what: "key-value store in one SQLite file, with revisions, watches and leases",
      state: "running",
    },
    { name: "Package manager", what: (state === "running" ? url : detail) ?? "", state },
    ...deployments.map(deploymentPart),
    ...(clusters.length === 0 ? OFF : clusters.flatMap(clusterParts)),
    { name: "Console", what: "the browser's view", state: "absent" },
  ];
}

const OFF: readonly Part[] = [
  { name: "Kubernetes clusters", what: "start without --no-cluster", state: "off" },
  { name: "Class runtime managers", what: "need a cluster each; by itself: npm run crm", state: "off" },
];

function deploymentPart({ key, condition, clusters }: DeploymentState): Part {
  const what = clusters.map((one) => `${one.name} ${one.condition.toLowerCase()}`).join(", ");
  return { name: `Deployment ${key}`, what, state: PART_STATES[condition] ?? "starting" };
}

const PART_STATES: Readonly<Record<string, PartState>> = { Running: "running", Down: "failed" };

function clusterParts(cluster: ClusterState): Part[] {
  const { name, state, detail, apiUrl, managerUrl, classes, broken } = cluster;
  return [
    {
      name: `Cluster ${name}`,
      what: state === "running" ? `${apiUrl ?? ""} (${aboutText(cluster)})` : (detail ?? ""),
      state,
    },
    { name: "  its manager", what: managerUrl ?? "", state: managerState(cluster) },
    // The cluster that is down says so itself.
    ...(broken === undefined || broken === detail ? [] : [brokenPart(broken)]),
    ...classes.map((one) => ({
      name: "  class",
      what: [`${one.name} in ${one.namespace}, ${one.phase}`, one.message].filter(Boolean).join(": "),
      state: classState(one),
    })),
  ];
}

function brokenPart(what: string): Part {
  return { name: "  broken", what, state: "failed" };
}

function managerState({ state, managerUrl }: ClusterState): PartState {
  if (state === "starting" && managerUrl !== undefined) return "running";
  return state === "running" && managerUrl === undefined ? "failed" : state;
}

/** What makes it differ from the others: labels, size, reliability. */
function aboutText({ labels, nodes, availability, context }: ClusterState): string {
  return [
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    nodes === 0 ? `context ${context}` : `${nodes} ${nodes === 1 ? "node" : "nodes"}`,
    ...(availability === undefined ? [] : [`up ${Number((availability * 100).toFixed(3))} %`]),
  ].join(", ");
}

function classState({ phase }: ClassState): PartState {
  if (phase === "available") return "running";
  return phase === "degraded" ? "failed" : "starting";
}
