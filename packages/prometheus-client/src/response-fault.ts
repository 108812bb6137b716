import { failedPrecondition, Fault, unavailable, type FaultDetail } from "@oaas/foundation";
import type { ApiError, ParseProblem } from "./parse-response.ts";
import type { PrometheusResponse } from "./transport.ts";

/** Names the server in faults: its URL, and the setting that holds it. */
export interface ServerName {
  /** Without credentials. */
  readonly url: string;
  /** The setting with the URL, such as OPRC_CRM_PROM_URL. */
  readonly setting: string;
}

/** The fault of a body that is not a query result. */
export function problemFault(problem: ParseProblem, server: ServerName): Fault {
  switch (problem.kind) {
    case "api-error":
      return apiErrorFault(problem.error, server);
    case "foreign":
      return failedPrecondition(
        server.url,
        `${server.url} returns ${problem.message} instead of a query result; set ${server.setting} to the base URL of a Prometheus API, such as http://prometheus.monitoring:9090`,
      );
    case "too-many-samples":
      return failedPrecondition(
        "samples",
        "the response has too many samples; query a shorter range, a larger step or fewer series",
      );
  }
}

function apiErrorFault({ type, message }: ApiError, server: ServerName): Fault {
  if (type === "timeout" || type === "unavailable" || type === "canceled" || type === "internal")
    return unavailable(server.url, `${server.url} failed to run the query (${type}: ${message})`);
  return failedPrecondition("query", `${server.url} rejects the query (${type}: ${message})`);
}

/** The fault of a response with an error status. `problem` is what its body contains, if it is not a result. */
export function statusFault(
  { status, headers }: PrometheusResponse,
  problem: ParseProblem | undefined,
  server: ServerName,
): Fault {
  const apiError = problem?.kind === "api-error" ? problem.error : undefined;
  const detail = apiError === undefined ? "" : `: ${apiError.message}`;
  const answered = `${server.url} answered ${status}${detail}`;
  if (status === 401) return new Fault({ kind: "unauthenticated" }, `${answered}; set valid credentials`);
  if (status === 403) {
    const denied: FaultDetail = { kind: "permission-denied", action: "query metrics" };
    return new Fault(denied, `${answered}; check the credentials and the tenant`);
  }
  if (status === 429) {
    const waitMs = Number(headers["retry-after"] ?? Number.NaN) * 1000;
    const retryAfter = Number.isFinite(waitMs) ? { retryAfterMs: waitMs } : {};
    return new Fault({ kind: "resource-exhausted", limit: "queries", ...retryAfter }, answered);
  }
  if (status >= 500) return unavailable(server.url, answered);
  if (apiError !== undefined) return apiErrorFault(apiError, server);
  const location = status >= 300 && status < 400 ? headers["location"] : undefined;
  const redirect = location === undefined ? "" : `, a redirect to ${withoutQuery(location)}`;
  return failedPrecondition(
    server.url,
    `${answered}${redirect}, which is not a Prometheus API; set ${server.setting} to the base URL of the API, with its path prefix`,
  );
}

/** A redirect to a login page may carry state in its query. */
function withoutQuery(location: string): string {
  return location.replace(/[?#].*$/, "").slice(0, 200);
}
