import type { DevStackConfig } from "../config.ts";
import type { ClusterPlan } from "./ports.ts";

/** Clusters with different labels, sizes, availability and prices, so that the planner has a choice. */
const CLUSTERS = [
  { name: "edge", labels: { env: "edge", zone: "a" }, nodes: 2, availability: 0.99, cost: price(0.06, 0.008) },
  { name: "cloud", labels: { env: "cloud", zone: "b" }, nodes: 3, availability: 0.999, cost: price(0.04, 0.005) },
  { name: "far-edge", labels: { env: "edge", zone: "c" }, nodes: 1, availability: 0.95, cost: price(0.09, 0.012) },
] as const;

function price(cpuHour: number, gibHour: number) {
  return { cpu_hour: cpuHour, gib_hour: gibHour, currency: "EUR" } as const;
}

/** Plans the simulated or real clusters of the stack. */
export function planClusters(config: DevStackConfig["clusters"], folder: string): readonly ClusterPlan[] {
  if (config.node) return [planNodeCluster(config, folder)];
  return CLUSTERS.slice(0, config.count).map(({ name, labels, nodes, availability, cost }, index) => ({
    name,
    labels,
    nodes: config.nodes ?? nodes,
    // The availability of real clusters is measured.
    ...(config.real ? {} : { availability, terms: { availability: promiseOf(availability), cost } }),
    folder: `${folder}/${name}`,
    apiPort: config.apiPort === 0 ? 0 : config.apiPort + index,
    managerPort: config.managerPort === 0 ? 0 : config.managerPort + index,
  }));
}

/** One cluster with real nodes, in a folder of its own: the objects of simulated nodes would not become ready there. */
function planNodeCluster({ nodes, apiPort, managerPort }: DevStackConfig["clusters"], folder: string): ClusterPlan {
  const labels = { env: "cloud", zone: "b" };
  return {
    name: "cloud",
    labels,
    runsImages: true,
    nodes: nodes ?? 1,
    folder: `${folder}/cloud-node`,
    apiPort,
    managerPort,
  };
}

function promiseOf(value: number) {
  return { value, source: "settings of the local stack", date: "2026-11-18" } as const;
}

/** Plans one existing cluster per kubeconfig context, with a folder for the log of its manager. */
export function planContexts(
  { contexts, managerPort }: Pick<DevStackConfig["clusters"], "contexts" | "managerPort">,
  folder: string,
): readonly ClusterPlan[] {
  const names = namesOf(contexts);
  return contexts.map((context, index) => ({
    name: names[index] ?? context,
    context,
    labels: {},
    nodes: 0,
    folder: `${folder}/${names[index] ?? context}`,
    apiPort: 0,
    managerPort: managerPort === 0 ? 0 : managerPort + index,
  }));
}

/** Derives cluster names from contexts such as `admin@prod.example/eu`; duplicates get a number. */
function namesOf(contexts: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  return contexts.map((context) => {
    const name =
      context
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-+|(?<!-)-+$/g, "")
        .slice(0, LONGEST_NAME) || "cluster";
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return count === 1 ? name : `${name}-${count}`;
  });
}

const LONGEST_NAME = 40;
