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

function clusterParts({ name, labels, nodes, state, detail, apiUrl, managerUrl, classes }: ClusterState): Part[] {
  const managerState = state === "starting" && managerUrl !== undefined ? "running" : state;
  const about = [...Object.entries(labels).map(([label, value]) => `${label}=${value}`), `${nodes} nodes`].join(", ");
  return [
    { name: `Cluster ${name}`, what: state === "running" ? `${apiUrl ?? ""} (${about})` : (detail ?? ""), state },
    { name: "  its manager", what: managerUrl ?? "", state: managerState },
    ...classes.map((one) => ({
      name: "  class",
      what: [`${one.name} in ${one.namespace}, ${one.phase}`, one.message].filter(Boolean).join(": "),
      state: classState(one),
    })),
  ];
}

function classState({ phase }: ClassState): PartState {
  if (phase === "available") return "running";
  return phase === "degraded" ? "failed" : "starting";
}
