import { once } from "node:events";
import { createServer } from "node:http";
import { findCrossSiteProblem, sentRequest, type CrossSiteRules } from "@oaas/foundation";
import { listenFault } from "@oaas/rpc";

/** A separate listener for metrics. */
export interface MetricsListener {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly text: () => Promise<string>;
  readonly type: string;
  /** Set on loopback: exceptions from the rejection of requests of web pages. */
  readonly crossSite?: CrossSiteRules | undefined;
}

/** Serves GET /metrics and nothing else. */
export async function openMetricsListener({
  host,
  port,
  text,
  type,
  crossSite,
}: MetricsListenerOptions): Promise<MetricsListener> {
  const server = createServer((request, response) => {
    const problem = crossSite && findCrossSiteProblem(sentRequest(request), crossSite);
    if (problem) {
      response.writeHead(problem.status, { "content-type": "text/plain" }).end(`${problem.message}; ${problem.fix}\n`);
      return;
    }
    if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("This port serves GET /metrics only.\n");
      return;
    }
    text().then(
      (metrics) => response.writeHead(200, { "content-type": type }).end(metrics),
      () => response.writeHead(500).end(),
    );
  });
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
