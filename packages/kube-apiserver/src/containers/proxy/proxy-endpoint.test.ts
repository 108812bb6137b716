import { virtualAmbient } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import type { ClusterView } from "../../controllers/objects/cluster-view.ts";
import type { ContainerResponse } from "../container-server.ts";
import { MAX_IN_FLIGHT, ProxyEndpoint } from "./proxy-endpoint.ts";

const POD = {
  metadata: { name: "p", namespace: "default", uid: "1" },
  spec: { containers: [{ name: "main" }] },
  status: { podIP: "10.0.0.2", containerStatuses: [{ name: "main", state: { running: {} } }] },
};
const view = { get: () => POD } as unknown as ClusterView;

function get(endpoint: ProxyEndpoint, signal: AbortSignal) {
  const request = { method: "GET", target: "/", headers: {}, body: "", signal };
  return endpoint.handle({ request, resource: "pods", namespace: "default", id: "p", rest: "/" });
}

test("rejects more requests than the limit, and accepts again when clients leave", async () => {
  const { time } = virtualAmbient(1);
  let served = 0;
  const serve = (): Promise<ContainerResponse> => {
    served += 1;
    return new Promise(() => undefined);
  };
  const endpoint = new ProxyEndpoint({ view: () => view, timers: time, serve, onServed: () => undefined });
  const leaving = new AbortController();
  const all = Array.from({ length: 1000 }, () => get(endpoint, leaving.signal));
  const rejected = await Promise.all(all.slice(MAX_IN_FLIGHT));
  expect(served).toBe(MAX_IN_FLIGHT);
  expect(new Set(rejected.map(({ status }) => status))).toEqual(new Set([429]));
  expect(rejected[0]?.headers).toMatchObject({ "retry-after": "1" });
  leaving.abort();
  void get(endpoint, new AbortController().signal);
  expect(served).toBe(MAX_IN_FLIGHT + 1);
});

test("ends a request whose container does not answer", async () => {
  const { time } = virtualAmbient(1);
  const endpoint = new ProxyEndpoint({
    view: () => view,
    timers: time,
    serve: ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    onServed: () => undefined,
  });
  const pending = get(endpoint, new AbortController().signal);
  await time.advance(61_000);
  const { status, body } = await pending;
  expect(status).toBe(503);
  expect(body).toContain("error trying to reach service: no complete response within 60 s");
});
