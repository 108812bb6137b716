import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { loadConfig } from "@oaas/config";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_LOGGER } from "@oaas/observability";
import { RpcServer } from "@oaas/rpc";
import { expect, test } from "vitest";
import { crmConfig } from "../config.ts";
import { openListeners, type Listeners } from "./listeners.ts";

function listenersOn(env: Readonly<Record<string, string>>): Promise<Listeners> {
  const config = loadConfig(crmConfig, { env });
  const rpc = new RpcServer({ services: [], ambient: realAmbient });
  return openListeners(
    config,
    { rpc, http: (_, response) => void response.end() },
    { timers: realAmbient.timers, logger: NOOP_LOGGER },
  );
}

async function takePort(port = 0): Promise<Server> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const close = (server: Server): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));

test("listens on loopback only without credentials, and everywhere with a token", async () => {
  for (const [env, host] of [
    [{}, "127.0.0.1"],
    [{ OPRC_CRM_SECURITY_TOKEN: "t" }, "0.0.0.0"],
  ] as const) {
    const listeners = await listenersOn({ HTTP_PORT: "0", ...env });
    expect(listeners.host).toBe(host);
    await listeners.close();
  }
});

test("opens one port, or two if gRPC has its own", async () => {
  const one = await listenersOn({ HTTP_PORT: "0" });
  expect(one.grpcPort).toBeUndefined();
  await one.close();
  const two = await listenersOn({ HTTP_PORT: "0", GRPC_PORT: "0" });
  expect(two.grpcPort).toBeGreaterThan(0);
  expect(two.grpcPort).not.toBe(two.port);
  await two.close();
});

test("closes the first port if the second cannot be opened", async () => {
  const [taken, free] = [await takePort(), await takePort()];
  const first = portOf(free);
  await close(free);
  await expect(listenersOn({ HTTP_PORT: String(first), GRPC_PORT: String(portOf(taken)) })).rejects.toThrow();
  await close(await takePort(first));
  await close(taken);
});
