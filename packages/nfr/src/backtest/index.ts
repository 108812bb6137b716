/** Replays recorded metrics through the analyzer and the policy. */
export type {
  Backtest,
  BacktestAction,
  BacktestMode,
  BacktestPoint,
  DecisionComparison,
  PlantModel,
} from "./backtest.ts";
export { plotSvg } from "./plot-svg.ts";
export { createPolicyAutoscaler, type PolicyAutoscalerOptions } from "./policy-autoscaler.ts";
export { readRecording, writeRecording, type RecordedComponent, type Recording } from "./recording.ts";
export { replay, replayInSteps, type ReplayOptions } from "./replay.ts";
export { simulateBacktest, simulateBacktestInSteps } from "./simulate-backtest.ts";
