import type { DevStackConfig } from "../config.ts";
import type { ClusterPlan } from "./ports.ts";

/** Different in kind, place and size, so that there is something to choose among. */
const CLUSTERS = [
  { name: "edge", labels: { env: "edge", zone: "a" }, nodes: 2 },
  { name: "cloud", labels: { env: "cloud", zone: "b" }, nodes: 3 },
  { name: "far-edge", labels: { env: "edge", zone: "c" }, nodes: 1 },
] as const;

/** The clusters of the stack, each with ports and a folder of its own. */
export function planClusters(config: DevStackConfig["clusters"], folder: string): readonly ClusterPlan[] {
  return CLUSTERS.slice(0, config.count).map(({ name, labels, nodes }, index) => ({
    name,
    labels,
    nodes: config.nodes ?? nodes,
    folder: `${folder}/${name}`,
    apiPort: config.apiPort === 0 ? 0 : config.apiPort + index,
    managerPort: config.managerPort === 0 ? 0 : config.managerPort + index,
  }));
}
