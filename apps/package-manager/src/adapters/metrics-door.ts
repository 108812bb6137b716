import { once } from "node:events";
import { createServer } from "node:http";
import { listenFault } from "@oaas/rpc";

/** A port of its own for those who gather metrics. */
export interface MetricsDoor {
  readonly port: number;
  close(): Promise<void>;
}

export interface MetricsDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly text: () => Promise<string>;
  readonly type: string;
}

/** Serves GET /metrics and nothing else. */
export async function openMetricsDoor({ host, port, text, type }: MetricsDoorOptions): Promise<MetricsDoor> {
  const server = createServer((request, response) => {
    if (request.method !== "GET" || request.url?.split("?", 1)[0] !== "/metrics") {
      response.writeHead(404, { "content-type": "text/plain" }).end("GET /metrics is all there is here\n");
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
