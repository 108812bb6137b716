import { createServer, type Server } from "node:http";

/** What everyone may ask, with or without a certificate. */
export const HEALTH_PATHS: readonly string[] = ["/health", "/healthz", "/readyz"];

/** What the HTTP side of the port tells. */
export interface EndpointSources {
  readonly version: string;
  /** Why the process should be restarted; empty when it is well. */
  readonly unhealthy: () => readonly string[];
  /** Why it should get no traffic yet; empty when it is ready. */
  readonly notReady: () => readonly string[];
  /** What the process does without because it may not read it; no reason to be unhealthy. */
  readonly without: () => readonly string[];
  readonly metrics: () => Promise<string>;
  readonly metricsType: string;
  readonly leader: () => string | undefined;
}

/** `/health`, `/healthz`, `/readyz`, `/metrics`: open to everyone, changing nothing. Listens nowhere by itself. */
export function createEndpoints(sources: EndpointSources): Server {
  const verdict = (reasons: readonly string[]): [number, string, string] => {
    const body = {
      status: reasons.length === 0 ? "healthy" : "unhealthy",
      service: "oprc-crm",
      version: sources.version,
      leader: sources.leader(),
      reasons,
      without: sources.without(),
    };
    return [reasons.length === 0 ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`];
  };
  const answers: Readonly<Record<string, () => Promise<[number, string, string]>>> = {
    "/health": async () => verdict(sources.unhealthy()),
    "/healthz": async () => verdict(sources.unhealthy()),
    "/readyz": async () => verdict(sources.notReady()),
    "/metrics": async () => [200, sources.metricsType, await sources.metrics()],
  };
  return createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    const answer = Object.hasOwn(answers, path) ? answers[path] : undefined;
    const known = Object.keys(answers).join(", ");
    void (async (): Promise<[number, string, string]> => {
      if (!answer) return [404, "text/plain", `There is no ${path} here; there are ${known}.\n`];
      if (request.method !== "GET" && request.method !== "HEAD") return [405, "text/plain", "Use GET.\n"];
      return answer();
    })()
      .catch((): [number, string, string] => [500, "text/plain", "The log has the details.\n"])
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
