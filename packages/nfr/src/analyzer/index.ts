export { analyze } from "./analyze.ts";
export type {
  Analysis,
  AnalysisInput,
  AnalyzerState,
  ComponentScale,
  RequestSeries,
  RequirementTargets,
  Verdict,
} from "./analysis.ts";
export type { CapacityCurve, CapacityEstimate, CapacityPoint, CapacitySource } from "./capacity.ts";
export { isSameCapacity, loadCapacity, saveCapacity, type CapacityCheckpoint } from "./capacity-checkpoint.ts";
export type { Finding, FindingReason } from "./finding.ts";
export { DEFAULT_ANALYZER_SETTINGS, type AnalyzerSettings } from "./settings.ts";
