import { once } from "node:events";
import { createServer, request, type IncomingMessage, type Server } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
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
    { timers: realAmbient.timers, logger: NOOP_LOGGER, tls: undefined },
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

test.each(["OPRC_CRM_LIMITS_CONNECTIONS", "OPRC_CRM_LIMITS_CONNECTIONS_PER_ADDRESS"])("%s limits", async (name) => {
  const listeners = await listenersOn({ HTTP_PORT: "0", [name]: "1" });
  const open = async (): Promise<Socket> => {
    const socket = connect(listeners.port, "127.0.0.1").on("error", () => undefined);
    await once(socket, "connect");
    return socket;
  };
  const first = await open();
  await once(await open(), "close");
  expect(first.closed).toBe(false);
  await listeners.close();
});

test("rejects foreign hosts and pages while authentication is off, and not with a token", async () => {
  const statusOf = async (env: Record<string, string>, headers: Record<string, string>): Promise<number> => {
    const listeners = await listenersOn({ HTTP_PORT: "0", OPRC_CRM_HTTP_HOST: "127.0.0.1", ...env });
    const sent = request({ port: listeners.port, host: "127.0.0.1", path: "/metrics", headers }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await listeners.close();
    return response.statusCode ?? 0;
  };
  expect(await statusOf({}, { host: "evil.example" })).toBe(421);
  expect(await statusOf({}, { "sec-fetch-site": "cross-site" })).toBe(403);
  expect(await statusOf({}, {})).toBe(200);
  expect(await statusOf({ OPRC_CRM_SECURITY_TOKEN: "t" }, { host: "crm.example" })).toBe(200);
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
