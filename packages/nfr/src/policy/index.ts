/** The enforcement policy: decisions, their records, and the proof of its properties. */
export { recommendMaximum, recommendMinimum } from "./autoscaler.ts";
export { decide } from "./decide.ts";
export {
  DEFAULT_GRID,
  LAWS,
  prove,
  proveInSteps,
  type Counterexample,
  type Law,
  type Proof,
  type ProofGrid,
  type ProofProgress,
  type TraceStep,
} from "./prove.ts";
export {
  outcomeText,
  readDecisionRecord,
  recompute,
  RECORD_ANNOTATION,
  recordDecision,
  type DecisionRecord,
  type Outcome,
  type Recomputation,
} from "./record.ts";
export { DEFAULT_POLICY, POLICY_FIELDS, POLICY_VERSION, readPolicySettings } from "./settings.ts";
export { valueText } from "./limits.ts";
export { utilizationText } from "./utilization.ts";
export { rememberTarget } from "./windows.ts";
