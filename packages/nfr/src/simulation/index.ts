export { LatencyHistogram } from "./latency-histogram.ts";
export { Plant, type Scrape } from "./plant.ts";
export type { Score } from "./score.ts";
export { simulate, type Autoscaler, type Change, type Observation, type SimulationResult } from "./simulate.ts";
export { demandOf, normal, workloadOf, type LoadCurve, type Workload } from "./workload.ts";
