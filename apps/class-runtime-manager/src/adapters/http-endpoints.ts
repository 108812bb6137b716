import type { IncomingMessage } from "node:http";
import { Fault } from "@oaas/foundation";
import { METRICS_TYPES, selectMetricsFormat, type MetricsFormat } from "@oaas/observability";
import { readHttpHead, type CallHead, type RequestListener } from "@oaas/rpc";

/** Paths that need no client certificate. */
export const HEALTH_PATHS: readonly string[] = ["/health", "/healthz", "/readyz"];

/** Sources of the HTTP responses. */
export interface HttpEndpointsOptions {
  readonly version: string;
  /** Why the process should be restarted; empty when it is healthy. */
  readonly unhealthyReasons: () => readonly string[];
  /** Why the process should get no traffic; empty when it is ready. */
  readonly notReadyReasons: () => readonly string[];
  /** Optional kinds without read permission. They do not make the process unhealthy. */
  readonly missingPermissions: () => readonly string[];
  /** Reasons why the setup is not fit for production. */
  readonly warnings: () => readonly string[];
  /** Throws a fault for callers that may not read metrics. */
  readonly authorizeMetrics: (head: CallHead) => unknown;
  readonly metrics: (format: MetricsFormat) => Promise<string>;
  readonly leader: () => string | undefined;
}

type Reply = [status: number, type: string, body: string];

/** Serves `/health`, `/healthz` and `/readyz` to every client, and `/metrics` to viewers. */
export function createHttpEndpoints(options: HttpEndpointsOptions): RequestListener {
  const healthResponse = (reasons: readonly string[]): Reply => {
    const body = {
      status: reasons.length === 0 ? "healthy" : "unhealthy",
      service: "oprc-crm",
      version: options.version,
      leader: options.leader(),
      reasons,
      without: options.missingPermissions(),
      warnings: options.warnings(),
    };
    return [reasons.length === 0 ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`];
  };
  const metricsResponse = async (request: IncomingMessage): Promise<Reply> => {
    try {
      options.authorizeMetrics(readHttpHead(request));
    } catch (thrown) {
      const { kind, message } = Fault.from(thrown);
      return [kind === "unauthenticated" ? 401 : 403, "text/plain", `${message}\n`];
    }
    const format = selectMetricsFormat(request.headers.accept);
    return [200, METRICS_TYPES[format], await options.metrics(format)];
  };
  const handlers: Readonly<Record<string, (request: IncomingMessage) => Promise<Reply>>> = {
    "/health": async () => healthResponse(options.unhealthyReasons()),
    "/healthz": async () => healthResponse(options.unhealthyReasons()),
    "/readyz": async () => healthResponse(options.notReadyReasons()),
    "/metrics": metricsResponse,
  };
  return (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    const paths = Object.keys(handlers).join(", ");
    void (async (): Promise<Reply> => {
      if (!handler) return [404, "text/plain", `${path} does not exist; use one of ${paths}.\n`];
      if (request.method !== "GET" && request.method !== "HEAD") return [405, "text/plain", "Use GET.\n"];
      return handler(request);
    })()
      .catch((): Reply => [500, "text/plain", "Internal error; see the log for details.\n"])
      .then(([status, type, body]) => {
        response.writeHead(status, {
          "content-type": type,
          "cache-control": "no-store",
          ...(status === 405 ? { allow: "GET, HEAD" } : {}),
          ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
        });
        response.end(request.method === "HEAD" ? undefined : body);
      });
  };
}
