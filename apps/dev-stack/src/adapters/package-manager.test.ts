import { expect, test } from "vitest";
import { packageManagerConfig } from "./package-manager.ts";

const KEY = Buffer.alloc(32, 7).toString("base64");
const server = { host: "127.0.0.1", port: 4711 };

test("passes environment settings except those that bind the package manager to its stack", () => {
  const config = packageManagerConfig(
    server,
    {
      DEPLOY_MAX_RETRIES: "7",
      PLANNER_ALGORITHM: "independent",
      SERVER_PORT: "80",
      STORAGE_TYPE: "etcd",
      CRM_CLUSTERS: "elsewhere",
      AUTH_TOKENS_FILE: "/tokens",
      STORAGE_ENCRYPTION_KEY: KEY,
    },
    [{ name: "edge", url: "http://127.0.0.1:1", labels: { env: "edge" } }],
  );
  expect(config).toMatchObject({
    server,
    storage: { type: "sqlite", encryptionKey: KEY },
    deploy: { maxRetries: 7 },
    planner: { algorithm: "independent" },
    crm: { clustersJson: [{ name: "edge", url: "http://127.0.0.1:1", labels: { env: "edge" } }] },
    auth: { tokensFile: undefined },
  });
});

test("rejects an invalid package manager setting before anything starts", () => {
  expect(() => packageManagerConfig(server, { DEPLOY_MAX_RETRIE: "1" }, [])).toThrow(/DEPLOY_MAX_RETRIE.*RETRIES/s);
});

test("listens beyond loopback only with AUTH_MODE=off, because there is no authentication", () => {
  const open = { host: "0.0.0.0", port: 1 };
  expect(() => packageManagerConfig(open, {}, [])).toThrow(/SERVER_HOST.*AUTH_MODE=off/s);
  expect(packageManagerConfig(open, { AUTH_MODE: "off" }, []).server.host).toBe("0.0.0.0");
});
