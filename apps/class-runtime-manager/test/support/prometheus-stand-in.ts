import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Answers every query of the Prometheus API with one value. */
export interface PrometheusStandIn {
  readonly url: string;
  value: number;
  close(): Promise<void>;
}

/** Starts the server on a free loopback port. */
export async function startPrometheusStandIn(): Promise<PrometheusStandIn> {
  const answer = { value: 0 };
  const server = createServer((_request, response) => {
    const result = [{ metric: {}, value: [Math.floor(Date.now() / 1000), String(answer.value)] }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ status: "success", data: { resultType: "vector", result } }));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  return Object.assign(answer, { url: `http://127.0.0.1:${port}`, close });
}
