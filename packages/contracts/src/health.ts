/** The health vocabulary, for clients that load no schemas. */
export {
  CLUSTER_WORDS,
  CONDITION_WORDS,
  conditionOfPhase,
  LifecyclePhase,
  OUTCOME_WORDS,
  PHASE_WORDS,
  type HealthWord,
} from "@oaas/models/health";
export { pascalCase } from "./rest/reading/spelling.ts";
