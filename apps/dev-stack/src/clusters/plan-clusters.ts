import type { DevStackConfig } from "../config.ts";
import type { ClusterPlan } from "./ports.ts";

/** Clusters with different labels, sizes and availability, so that the planner has a choice. */
const CLUSTERS = [
  { name: "edge", labels: { env: "edge", zone: "a" }, nodes: 2, availability: 0.99 },
  { name: "cloud", labels: { env: "cloud", zone: "b" }, nodes: 3, availability: 0.999 },
  { name: "far-edge", labels: { env: "edge", zone: "c" }, nodes: 1, availability: 0.95 },
] as const;

/** Plans the simulated or real clusters of the stack. */
export function planClusters(config: DevStackConfig["clusters"], folder: string): readonly ClusterPlan[] {
  return CLUSTERS.slice(0, config.count).map(({ name, labels, nodes, availability }, index) => ({
    name,
    labels,
    nodes: config.nodes ?? nodes,
    // The availability of real clusters is measured.
    ...(config.real ? {} : { availability }),
    folder: `${folder}/${name}`,
    apiPort: config.apiPort === 0 ? 0 : config.apiPort + index,
    managerPort: config.managerPort === 0 ? 0 : config.managerPort + index,
  }));
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
