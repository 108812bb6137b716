export {
  explainRecommendation,
  type ExplainedRecommendation,
  type StoredRecommendation,
} from "./explain-recommendation.ts";
export { explainSkip } from "./explain-skip.ts";
