import type { ClassState, ClusterState } from "./clusters/cluster-state.ts";

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
export function partsOf(clusters: readonly ClusterState[]): readonly Part[] {
  return [
    {
      name: "Durable store",
      what: "key-value store in one SQLite file, with revisions, watches and leases",
      state: "running",
    },
    { name: "REST contract", what: "the OpenAPI 3.1 document that the package manager will serve", state: "running" },
    ...(clusters.length === 0 ? OFF : clusters.flatMap(clusterParts)),
    { name: "Package manager", what: "registry, plans, deployments over clusters", state: "absent" },
    { name: "Simulated clusters", what: "embedded Kubernetes API servers", state: "absent" },
    { name: "Console and command line", what: "the browser's and the terminal's view", state: "absent" },
  ];
}

const OFF: readonly Part[] = [
  { name: "Kubernetes cluster", what: "starts without --no-cluster", state: "off" },
  { name: "Class runtime manager", what: "needs the cluster; by itself: npm run crm", state: "off" },
];

function clusterParts({ name, state, detail, apiUrl, managerUrl, classes }: ClusterState): readonly Part[] {
  const about = (text: string | undefined): string => (text === undefined ? name : `${name}: ${text}`);
  const managerState = state === "starting" && managerUrl !== undefined ? "running" : state;
  return [
    { name: "Kubernetes cluster", what: about(state === "running" ? apiUrl : detail), state },
    { name: "Class runtime manager", what: about(managerUrl), state: managerState },
    ...classes.map((one) => ({
      name: `Class ${one.name}`,
      what: about([`in ${one.namespace}, ${one.phase}`, one.message].filter(Boolean).join(": ")),
      state: classState(one),
    })),
  ];
}

function classState({ phase }: ClassState): PartState {
  if (phase === "available") return "running";
  return phase === "degraded" ? "failed" : "starting";
}
