/**
 * PromQL over time series in memory.
 *
 * Reading order: syntax (a query becomes an expression), store (bounded ring buffers), evaluate (all steps of a query at
 * once), regex (matchers in linear time), api (the HTTP API of Prometheus, without a server).
 */
export { labelsToObject, type Labels } from "./labels.ts";
export { parseQuery } from "./syntax/parse-query.ts";
export { listSelectors } from "./syntax/list-selectors.ts";
export { TimeSeriesStore, type StoreLimits } from "./store/time-series-store.ts";
export { QueryEngine, type QueryRange, type QueryResult, type ResultSeries } from "./evaluate/evaluate.ts";
export type { EvaluationOptions } from "./evaluate/context.ts";
export { formatSample } from "./api/exposition.ts";
export { createPrometheusApi, type ApiOptions, type ApiRequest, type ApiResponse } from "./api/http-api.ts";
