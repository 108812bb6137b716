/** Queries of the signals, and the assignment of their results to components. */
export {
  assignSeries,
  ComponentIndex,
  type AssignedSignal,
  type ComponentTarget,
  type ResultSeries,
} from "./assign-series.ts";
export {
  buildQuery,
  fillTemplate,
  findOverrideProblems,
  templateOf,
  type QueryOverrides,
  type QueryScope,
} from "./build-queries.ts";
export {
  deploymentCpuPercent,
  deploymentLatencyP95,
  deploymentThroughput,
  httpLatencyP99Ms,
  knativeLatencyP99Ms,
  knativeRequestsPerSecond,
  podsCpuMillicores,
  podsMemoryBytes,
  type ClassSelector,
  type PodSelector,
} from "./class-queries.ts";
export { narrowTemplate } from "./narrow-query.ts";
export { PodIndex, type Workload } from "./pod-names.ts";
export { SERIES_LABELS } from "./series-labels.ts";
export { NAMING_SCHEMES, QUERY_TEMPLATES, type NamingScheme, type QueryTemplate } from "./templates.ts";
