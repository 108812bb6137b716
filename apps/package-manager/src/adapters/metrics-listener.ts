import { once } from "node:events";
import { createServer } from "node:http";
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
}

/** Serves GET /metrics and nothing else. */
export async function openMetricsListener({
  host,
  port,
  text,
  type,
}: MetricsListenerOptions): Promise<MetricsListener> {
  const server = createServer((request, response) => {
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
