export {
  explainRecommendation,
  type ExplainedRecommendation,
  type StoredRecommendation,
} from "./explain-recommendation.ts";
export { explainSkip } from "./explain-skip.ts";
export { formatNumber, formatShare, formatSignal, formatValue, formatWindow } from "./format.ts";
