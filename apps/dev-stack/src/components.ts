import type { ClassState, ClusterState } from "./clusters/cluster-state.ts";
import type { DeploymentState, PackageManagerState } from "./package-manager/ports.ts";

/** The state of all components. */
export interface StackState {
  readonly packageManager: PackageManagerState;
  readonly clusters: readonly ClusterState[];
}

/** One component of the stack, as displayed. */
export interface Component {
  /** Unique and stable: `store`, `deployment/KEY`, `cluster/NAME`, `cluster/NAME/class/NAMESPACE/NAME`. */
  readonly id: string;
  readonly name: string;
  readonly details: string;
  readonly state: ComponentState;
}

/** off: disabled by a flag, or not built. */
export type ComponentState = "running" | "starting" | "degraded" | "failed" | "off";

export const STATE_LABELS: Readonly<Record<ComponentState, string>> = {
  running: "running",
  starting: "starting",
  degraded: "degraded",
  failed: "failed",
  off: "disabled",
};

/** Lists the components of the stack. A component is running only if this process runs it. */
export function listComponents({ packageManager, clusters }: StackState): readonly Component[] {
  const { state, url, detail, deployments } = packageManager;
  return [
    {
      id: "store",
      name: "Store",
      details: "key-value store in a SQLite file",
      state: "running",
    },
    { id: "package-manager", name: "Package manager", details: (state === "running" ? url : detail) ?? "", state },
    ...deployments.map(deploymentComponent),
    ...(clusters.length === 0 ? DISABLED_CLUSTERS : clusters.flatMap(clusterComponents)),
    consoleComponent(packageManager),
  ];
}

/** The package manager serves the console. */
function consoleComponent({ state, consoleUrl }: PackageManagerState): Component {
  const named = { id: "console", name: "Console" };
  if (consoleUrl !== undefined) return { ...named, details: consoleUrl, state: "running" };
  if (state !== "running") return { ...named, details: "", state };
  return { ...named, details: "not built: npm run console", state: "off" };
}

const DISABLED_CLUSTERS: readonly Component[] = [
  { id: "clusters", name: "Kubernetes clusters", details: "disabled by --no-cluster", state: "off" },
  {
    id: "managers",
    name: "Class runtime managers",
    details: "one per cluster; run one by itself with npm run crm",
    state: "off",
  },
];

function deploymentComponent({ key, condition, clusters }: DeploymentState): Component {
  const what = clusters.map((one) => `${one.name} ${one.condition}`).join(", ");
  const state = COMPONENT_STATES[condition] ?? "starting";
  return { id: `deployment/${key}`, name: `Deployment ${key}`, details: what, state };
}

/** By condition of a deployment or class. */
const COMPONENT_STATES: Readonly<Record<string, ComponentState>> = {
  Running: "running",
  Degraded: "degraded",
  Down: "failed",
};

function clusterComponents(cluster: ClusterState): Component[] {
  const { name, state, detail, apiUrl, managerUrl, classes, broken } = cluster;
  const id = `cluster/${name}`;
  return [
    {
      id,
      name: `Cluster ${name}`,
      details: state === "running" ? `${apiUrl ?? ""} (${clusterDetails(cluster)})` : (detail ?? ""),
      state,
    },
    { id: `${id}/manager`, name: "  manager", details: managerUrl ?? "", state: managerState(cluster) },
    // A cluster that is down shows the fault itself.
    ...(broken === undefined || broken === detail ? [] : [faultComponent(id, broken)]),
    ...classes.map((one) => ({
      id: `${id}/class/${one.namespace}/${one.name}`,
      name: "  class",
      details: classDetails(one, cluster),
      state: COMPONENT_STATES[one.condition] ?? "starting",
    })),
  ];
}

function classDetails(one: ClassState, cluster: ClusterState): string {
  const what = `${one.name} in ${one.namespace}, ${one.condition}${loadText(one, cluster)}`;
  const news = [one.message, one.lastChange && `Enforcement: ${one.lastChange}.`].filter(Boolean).join(" ");
  return news === "" ? what : `${what}: ${news}`;
}

/** The simulated load of a class, over its functions. */
function loadText({ namespace, name }: ClassState, { loads }: ClusterState): string {
  const own = loads.filter((load) => load.namespace === namespace && load.owner === name);
  if (own.length === 0) return "";
  const sum = (of: (load: ClusterState["loads"][number]) => number): number =>
    own.reduce((total, load) => total + of(load), 0);
  const replicas = sum((load) => load.ready_replicas);
  return `, ${Math.round(sum((load) => load.requests_per_second))} requests/s on ${replicas} ${replicas === 1 ? "replica" : "replicas"}`;
}

function faultComponent(cluster: string, what: string): Component {
  return { id: `${cluster}/fault`, name: "  fault", details: what, state: "failed" };
}

function managerState({ state, managerUrl }: ClusterState): ComponentState {
  if (state === "starting" && managerUrl !== undefined) return "running";
  return state === "running" && managerUrl === undefined ? "failed" : state;
}

/** Labels, size and availability of a cluster. */
function clusterDetails({ labels, nodes, availability, context }: ClusterState): string {
  return [
    ...Object.entries(labels).map(([label, value]) => `${label}=${value}`),
    nodes === 0 ? `context ${context}` : `${nodes} ${nodes === 1 ? "node" : "nodes"}`,
    ...(availability === undefined ? [] : [`availability ${Number((availability * 100).toFixed(3))} %`]),
  ].join(", ");
}
