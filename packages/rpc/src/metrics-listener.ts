import { once } from "node:events";
import { createServer } from "node:http";
import { findCrossSiteProblem, sentRequest, type CrossSiteRules } from "@oaas/foundation";
import { METRICS_TYPES, selectMetricsFormat, type MetricsFormat } from "@oaas/observability";
import { listenFault } from "./one-port.ts";

/** A separate listener for metrics. */
export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly text: (format: MetricsFormat) => Promise<string>;
  /** Set on loopback: exceptions from the rejection of requests of web pages. */
  readonly crossSite?: CrossSiteRules | undefined;
}

/** A scrape takes milliseconds, and Prometheus keeps one connection. */
const MAX_CONNECTIONS = 64;
const REQUEST_TIMEOUT_MS = 10_000;

/** Serves GET /metrics and nothing else, without authentication. */
export async function openMetricsListener({
  host,
  port,
  text,
  crossSite,
}: MetricsListenerOptions): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    const problem = crossSite && findCrossSiteProblem(sentRequest(request), crossSite);
    if (problem) {
      response.writeHead(problem.status, { "content-type": "text/plain" }).end(`${problem.message}; ${problem.fix}\n`);
      return;
    }
    if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("This port serves GET /metrics only.\n");
      return;
    }
    const format = selectMetricsFormat(request.headers.accept);
    text(format).then(
      (metrics) => response.writeHead(200, { "content-type": METRICS_TYPES[format] }).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, host);
  await once(server, "listening").catch((thrown: unknown) => {
    throw listenFault(host, port, thrown as Error);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
