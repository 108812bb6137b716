/** Client of the Prometheus HTTP API; `node` has the transport over sockets. */
export { findBaseUrlProblem } from "./base-url.ts";
export { createPrometheusClient, type PrometheusClient, type PrometheusClientOptions } from "./prometheus-client.ts";
export {
  seriesName,
  type InstantQuery,
  type LabelledSeries,
  type PrometheusHealth,
  type QueryOptions,
  type QueryResult,
  type RangeQuery,
} from "./query.ts";
export { identityHeaders, type PrometheusIdentity } from "./request-headers.ts";
export type { PrometheusRequest, PrometheusResponse, PrometheusTransport } from "./transport.ts";
