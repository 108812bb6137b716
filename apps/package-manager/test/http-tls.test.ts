import { createHash } from "node:crypto";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { Agent, request, type RequestOptions } from "node:https";
import path from "node:path";
import { PackageService } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createRecordingLogger } from "@oaas/observability/testing";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import { eventually, makeAuthority, makeRunFolder, type IssuedCertificate, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pmCommand } from "./pm-process.ts";
import { startPm } from "./running-pm.ts";

let folder: RunFolder;
beforeAll(async () => {
  folder = await makeRunFolder("pm-tls");
});
afterAll(() => folder.remove());

const inFolder = (name: string): string => path.join(folder.path, name);
/** The folder exists only when tests run. */
const laterInFolder = (name: string) => (): string => inFolder(name);

interface Pair {
  readonly ca: string;
  readonly env: { readonly OPRC_PM_SECURITY_TLS_CERT_FILE: string; readonly OPRC_PM_SECURITY_TLS_KEY_FILE: string };
}

/** Writes a new server certificate for loopback under this name; returns its authority and the settings. */
async function issue(name: string): Promise<Pair> {
  const authority = makeAuthority(`${name}-ca`);
  const { certificate, key } = authority.issue({ commonName: name, hosts: ["127.0.0.1", "localhost"] });
  const [certFile, keyFile] = [inFolder(`${name}.crt`), inFolder(`${name}.key`)];
  await writeFile(certFile, certificate);
  await writeFile(keyFile, key);
  const env = { OPRC_PM_SECURITY_TLS_CERT_FILE: certFile, OPRC_PM_SECURITY_TLS_KEY_FILE: keyFile };
  return { ca: authority.certificate, env };
}

/** The status of GET /readyz, or the code of the error. */
async function get(port: number, options: RequestOptions): Promise<number | string | undefined> {
  const sent = request({ host: "127.0.0.1", port, path: "/readyz", ...options }).end();
  try {
    const [response] = await once(sent, "response");
    response.resume();
    await once(response, "end");
    return response.statusCode;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code;
  }
}

describe("TLS", () => {
  test("serves HTTPS and gRPC with the certificate", async () => {
    const { ca, env } = await issue("plain");
    await using pm = await startPm({ env: { ...env, GRPC_PORT: "0" } });
    expect(await get(pm.app.port, { ca })).toBe(200);
    expect(await get(pm.app.port, {})).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");
    await expect(fetch(`http://127.0.0.1:${pm.app.port}/readyz`)).rejects.toThrow();
    const address = `localhost:${pm.app.grpcPort}`;
    const channel = new RpcChannel({ name: "pm", address, clock: realAmbient.clock, tls: { ca } });
    const { packages } = await channel.client(PackageService).listPackages({}, { deadlineMs: 15_000 });
    expect(packages).toEqual([]);
    channel.close();
  });

  test("requires a client certificate of the configured authority, and gives it the role of its name", async () => {
    const { ca, env } = await issue("mutual");
    const clients = makeAuthority("clients");
    await writeFile(inFolder("clients.crt"), clients.certificate);
    await using pm = await startPm({
      env: {
        ...env,
        GRPC_PORT: "0",
        OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE: inFolder("clients.crt"),
        OPRC_PM_SECURITY_TLS_CLIENT_NAMES: "CN:ci=deployer,URI:spiffe://oaas/dashboard=viewer",
      },
    });
    const known = clients.issue({ commonName: "ci" });
    const stranger = makeAuthority("others").issue({ commonName: "ci" });
    const dashboard = clients.issue({ commonName: "x", uris: ["spiffe://oaas/dashboard"] });
    const unlisted = clients.issue({ commonName: "ci-2", hosts: ["ci"] });
    const status = (client: IssuedCertificate, options: RequestOptions): Promise<number | string | undefined> =>
      get(pm.app.port, { ca, cert: client.certificate, key: client.key, ...options });
    const list = { path: "/api/v1/packages" };
    const remove = { path: "/api/v1/packages/none", method: "DELETE" };
    expect([await status(known, list), await status(known, remove)]).toEqual([200, 404]);
    expect([await status(dashboard, list), await status(dashboard, remove)]).toEqual([200, 403]);
    expect([await status(unlisted, list), await status(unlisted, remove)]).toEqual([403, 403]);
    const grpc = async ({ certificate, key }: IssuedCertificate): Promise<unknown> => {
      const address = `localhost:${pm.app.grpcPort}`;
      const channel = new RpcChannel({ name: "pm", address, clock: realAmbient.clock, tls: { ca, certificate, key } });
      const call = channel.client(PackageService).deletePackage({ name: "none" }, { deadlineMs: 15_000 });
      const fault: unknown = await call.catch((thrown: unknown) => thrown);
      channel.close();
      return fault;
    };
    expect(await grpc(known)).toMatchObject({ kind: "not-found" });
    expect(await grpc(dashboard)).toMatchObject({ kind: "permission-denied" });
    expect(await grpc(unlisted)).toMatchObject({ kind: "permission-denied" });
    expect(await get(pm.app.port, { ca, cert: known.certificate, key: known.key })).toBe(200);
    expect(await get(pm.app.port, { ca })).not.toBe(200);
    expect(await get(pm.app.port, { ca, cert: stranger.certificate, key: stranger.key })).not.toBe(200);
  });

  describe("of the gRPC listener", () => {
    const crms = makeAuthority("crms");
    const files = {
      cert: laterInFolder("reports.crt"),
      key: laterInFolder("reports.key"),
      ca: laterInFolder("reports-ca.crt"),
    };
    const writeFiles = async (): Promise<void> => {
      const { certificate, key } = crms.issue({ commonName: "oprc-pm", hosts: ["localhost"] });
      await Promise.all([
        writeFile(files.cert(), certificate),
        writeFile(files.key(), key),
        writeFile(files.ca(), crms.certificate),
      ]);
    };
    const start = () =>
      startPm({
        tokens: `edge-crm:reporter@edge:${createHash("sha256").update("edge-token").digest("hex")}`,
        env: {
          SERVER_HOST: "127.0.0.1",
          GRPC_PORT: "0",
          OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE: files.cert(),
          OPRC_PM_SECURITY_GRPC_TLS_KEY_FILE: files.key(),
          OPRC_PM_SECURITY_GRPC_TLS_CLIENT_CA_FILE: files.ca(),
          OPRC_PM_SECURITY_GRPC_TLS_REPORTERS: "CN:oprc-crm=local",
        },
      });
    type Client = RpcClient<typeof PackageService>;
    const outcome = async (
      port: number | undefined,
      client: Partial<IssuedCertificate>,
      call: (client: Client) => Promise<unknown>,
      token?: string,
    ): Promise<string> => {
      const channel = new RpcChannel({
        name: "pm",
        address: `localhost:${port}`,
        clock: realAmbient.clock,
        deadlineMs: 15_000,
        tls: { ca: crms.certificate, ...client },
        token: () => token,
      });
      try {
        await call(channel.client(PackageService));
        return "accepted";
      } catch (thrown) {
        return Fault.from(thrown).kind;
      } finally {
        channel.close();
      }
    };
    const reportFor = (cluster: string) => (client: Client) =>
      client.reportRuntimeMetrics({ deploymentId: "none", origin: { cluster, epoch: "e", sequence: 1n } });
    const list = (client: Client): Promise<unknown> => client.listPackages({});

    test("a listed certificate reports for its cluster without a token, and may do nothing else", async () => {
      await writeFiles();
      await using pm = await start();
      const port = pm.app.grpcPort;
      const crm = crms.issue({ commonName: "oprc-crm" });
      const other = crms.issue({ commonName: "oprc-pm" });
      const foreign = makeAuthority("others").issue({ commonName: "oprc-crm" });
      expect(await outcome(port, crm, reportFor("local"))).not.toMatch(/unauthenticated|permission|unavailable/);
      expect(await outcome(port, crm, reportFor("edge"))).toBe("permission-denied");
      expect(await outcome(port, crm, list)).toBe("permission-denied");
      expect(await outcome(port, other, reportFor("local"))).toBe("unauthenticated");
      // A token decides, if one is sent.
      expect(await outcome(port, crm, reportFor("local"), "edge-token")).toBe("permission-denied");
      expect(await outcome(port, other, reportFor("edge"), "edge-token")).not.toMatch(/unauthenticated|permission/);
      expect(await outcome(port, foreign, reportFor("local"))).toBe("unavailable");
      expect(await outcome(port, {}, reportFor("edge"), "edge-token")).toBe("unavailable");
      expect((await fetch(`${pm.url}/readyz`)).status, "REST has no TLS").toBe(200);
    });

    test("rejects every client until its files exist, and the rest of the service works", async () => {
      await Promise.all(Object.values(files).map((file) => rm(file(), { force: true })));
      await using pm = await start();
      const crm = crms.issue({ commonName: "oprc-crm" });
      expect(await outcome(pm.app.grpcPort, crm, reportFor("local"))).toBe("unavailable");
      expect((await fetch(`${pm.url}/readyz`)).status).toBe(200);
      const health = async (): Promise<string> => (await fetch(`${pm.url}/health`)).text();
      expect(await health()).toMatch(/cannot report: .*reports.crt cannot be read: ENOENT/);
      await writeFiles();
      await eventually(
        async () => expect(await outcome(pm.app.grpcPort, crm, reportFor("edge"))).toBe("permission-denied"),
        { timeoutMs: 30_000 },
      );
      expect(await health()).not.toMatch(/cannot report/);
    });
  });

  test("reloads replaced files for new connections; an invalid pair is logged and not applied", async () => {
    const old = await issue("renewed");
    const recording = createRecordingLogger();
    await using pm = await startPm({ env: old.env, logger: recording.log });
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: old.ca });
    expect(await get(pm.app.port, { agent })).toBe(200);
    const { certificate } = makeAuthority("half").issue({ commonName: "renewed", hosts: ["127.0.0.1"] });
    await writeFile(old.env.OPRC_PM_SECURITY_TLS_CERT_FILE, certificate);
    const failures = () => recording.records.filter(({ message }) => message === "reload TLS certificates failed");
    await eventually(() => failures().length > 0, { timeoutMs: 20_000 });
    expect(failures()[0]).toMatchObject({
      level: "warn",
      fields: { fault: { violations: [{ path: "$.OPRC_PM_SECURITY_TLS_KEY_FILE" }] } },
    });
    expect(await get(pm.app.port, { ca: old.ca }), "the old pair stays in use").toBe(200);
    const renewed = await issue("renewed");
    await eventually(async () => (await get(pm.app.port, { ca: renewed.ca })) === 200, { timeoutMs: 20_000 });
    expect(await get(pm.app.port, { agent }), "the open connection is kept").toBe(200);
    expect(Object.values(agent.freeSockets).flat()).toHaveLength(1);
    agent.destroy();
  });
});

describe("invalid TLS settings stop the start, with the setting and the fix", () => {
  test.each([
    {
      why: "a key without its certificate",
      env: async () => ({ OPRC_PM_SECURITY_TLS_KEY_FILE: (await issue("a")).env.OPRC_PM_SECURITY_TLS_KEY_FILE }),
      expected: /OPRC_PM_SECURITY_TLS_CERT_FILE: is required.*set both files/,
    },
    {
      why: "a client authority without names of clients",
      env: async () => ({ ...(await issue("b")).env, OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE: "ca.crt" }),
      expected: /OPRC_PM_SECURITY_TLS_CLIENT_NAMES: is required.*\*=deployer/,
    },
    {
      why: "a client authority without a certificate",
      env: async () => ({ OPRC_PM_SECURITY_TLS_CLIENT_CA_FILE: "ca.crt" }),
      expected: /OPRC_PM_SECURITY_TLS_CERT_FILE: is required[^]*OPRC_PM_SECURITY_TLS_KEY_FILE: is required/,
    },
    {
      why: "a key of another certificate",
      env: async () => {
        const [a, b] = [await issue("a"), await issue("b")];
        return { ...a.env, OPRC_PM_SECURITY_TLS_KEY_FILE: b.env.OPRC_PM_SECURITY_TLS_KEY_FILE };
      },
      expected:
        /OPRC_PM_SECURITY_TLS_KEY_FILE: .*b.key does not match the certificate in .*a.crt; name the private key/,
    },
    {
      why: "TLS of a gRPC listener that is not open",
      env: async () => ({ OPRC_PM_SECURITY_GRPC_TLS_CERT_FILE: "crt" }),
      expected: /GRPC_TLS_CERT_FILE: has no effect without the gRPC listener; set GRPC_PORT/,
    },
    {
      why: "certificates of reporters that nothing verifies",
      env: async () => ({ GRPC_PORT: "0", OPRC_PM_SECURITY_GRPC_TLS_REPORTERS: "CN:oprc-crm=local" }),
      expected:
        /GRPC_TLS_CERT_FILE: is required[^]*REPORTERS: has no effect without client certificates[^]*authentication is off/,
    },
    {
      why: "files that are missing or not PEM",
      env: async () => {
        await writeFile(inFolder("text"), "not PEM");
        return { OPRC_PM_SECURITY_TLS_CERT_FILE: inFolder("text"), OPRC_PM_SECURITY_TLS_KEY_FILE: inFolder("none") };
      },
      expected:
        /CERT_FILE: .*text does not contain a certificate; name a PEM file.*KEY_FILE: .*none cannot be read: ENOENT/,
    },
  ])("$why", async ({ env, expected }) => {
    const { exitCode, stderr } = await pmCommand(folder.path, [], await env());
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(expected);
    expect(stderr, "no stack").not.toContain("    at ");
  });
});
