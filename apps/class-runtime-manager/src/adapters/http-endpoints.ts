import { createServer, type Server } from "node:http";

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
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
  readonly leader: () => string | undefined;
}

/** Serves `/health`, `/healthz`, `/readyz` and `/metrics` without authentication. The caller listens. */
export function createHttpEndpoints(options: HttpEndpointsOptions): Server {
  const healthResponse = (reasons: readonly string[]): [number, string, string] => {
    const body = {
      status: reasons.length === 0 ? "healthy" : "unhealthy",
      service: "oprc-crm",
      version: options.version,
      leader: options.leader(),
      reasons,
      without: options.missingPermissions(),
    };
    return [reasons.length === 0 ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`];
  };
  const handlers: Readonly<Record<string, () => Promise<[number, string, string]>>> = {
    "/health": async () => healthResponse(options.unhealthyReasons()),
    "/healthz": async () => healthResponse(options.unhealthyReasons()),
    "/readyz": async () => healthResponse(options.notReadyReasons()),
    "/metrics": async () => [200, options.metricsType, await options.metrics()],
  };
  return createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const handler = Object.hasOwn(handlers, path) ? handlers[path] : undefined;
    const paths = Object.keys(handlers).join(", ");
    void (async (): Promise<[number, string, string]> => {
      if (!handler) return [404, "text/plain", `${path} does not exist; use one of ${paths}.\n`];
      if (request.method !== "GET" && request.method !== "HEAD") return [405, "text/plain", "Use GET.\n"];
      return handler();
    })()
      .catch((): [number, string, string] => [500, "text/plain", "Internal error; see the log for details.\n"])
      .then(([status, type, body]) => {
        response.writeHead(status, {
          "content-type": type,
          "cache-control": "no-store",
          ...(status === 405 ? { allow: "GET, HEAD" } : {}),
        });
        response.end(request.method === "HEAD" ? undefined : body);
      });
  });
}
