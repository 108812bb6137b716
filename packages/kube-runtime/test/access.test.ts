import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { Clock, Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import { describeWith, eventually, makeAuthority } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createUndiciTransport, loadAccess, type AccessOptions } from "../src/adapters/index.ts";
import { KubeClient } from "../src/client/kube-client.ts";
import { resourceType } from "../src/client/resource-type.ts";
import { startKillableApiServer, type KillableApiServer } from "./killable-api-server.ts";
import { NAMESPACES } from "./real-client.ts";

interface Review extends KubeObject {
  readonly status?: { readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] } };
}

const REVIEWS = resourceType<Review>({
  group: "authentication.k8s.io",
  version: "v1",
  kind: "SelfSubjectReview",
  resource: "selfsubjectreviews",
  namespaced: false,
});

/** The user as the server sees it. */
async function whoAmI(client: KubeClient): Promise<string | undefined> {
  const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview", metadata: {} };
  return (await client.resource(REVIEWS).create(review)).status?.userInfo?.username;
}

/** A clock that a test can advance, so that no test waits for files to be read again. */
function movableClock(): Clock & { forwardMs: number } {
  const clock = {
    forwardMs: 0,
    now: () => realAmbient.clock.now() + clock.forwardMs,
    monotonic: () => realAmbient.clock.monotonic() + clock.forwardMs,
  };
  return clock;
}

describeWith(["kubernetes"], "access to a real API server", () => {
  let server: KillableApiServer;
  let folder: string;
  const clients: KubeClient[] = [];

  beforeAll(async () => {
    server = await startKillableApiServer();
    folder = join(server.folder, "access");
    mkdirSync(folder);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  });

  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  /** A client from a kubeconfig with these parts, read as from disk. */
  const fromConfig = (
    parts: { readonly cluster?: object; readonly user?: object },
    options: Partial<AccessOptions> & { readonly clock?: Clock } = {},
  ): KubeClient => {
    const cluster = {
      server: server.access.server,
      "certificate-authority-data": base64(server.authority),
      ...parts.cluster,
    };
    const kubeconfig = write(
      `config-${clients.length}`,
      JSON.stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "k", user: "u" } }],
        clusters: [{ name: "k", cluster }],
        users: [{ name: "u", user: parts.user ?? { token: "tok-admin" } }],
      }),
    );
    const { clock = realAmbient.clock, ...rest } = options;
    const transport = createUndiciTransport(loadAccess({ env: {}, kubeconfig, ...rest }), { clock });
    const client = new KubeClient({ transport, ambient: realAmbient });
    clients.push(client);
    return client;
  };

  describe("the server's certificate", () => {
    test("is rejected at once when signed by an unknown authority, with a hint", async () => {
      const stranger = base64(makeAuthority("stranger").certificate);
      const client = fromConfig({ cluster: { "certificate-authority-data": stranger } });
      await expect(whoAmI(client)).rejects.toMatchObject({
        kind: "failed-precondition",
        message: expect.stringContaining("check the certificate authority") as string,
      });
    });

    test("is not verified when the kubeconfig disables it", async () => {
      const client = fromConfig({
        cluster: { "certificate-authority-data": undefined, "insecure-skip-tls-verify": true },
      });
      expect(await whoAmI(client)).toBe("admin");
    });

    test("must match the server name of the kubeconfig", async () => {
      expect(await whoAmI(fromConfig({ cluster: { "tls-server-name": "api.test" } }))).toBe("admin");
      await expect(whoAmI(fromConfig({ cluster: { "tls-server-name": "other.test" } }))).rejects.toMatchObject({
        kind: "failed-precondition",
      });
    });
  });

  describe("authentication", () => {
    test("re-reads a rotated client certificate file, also during a watch", async () => {
      const alice = server.issue({ commonName: "alice", organization: "system:masters" });
      const bob = server.issue({ commonName: "bob", organization: "system:masters" });
      const user = {
        "client-certificate": write("me.crt", alice.certificate),
        "client-key": write("me.key", alice.key),
      };
      const clock = movableClock();
      const client = fromConfig({ user }, { clock });
      expect(await whoAmI(client)).toBe("alice");
      const stop = new AbortController();
      const events = await client.resource(NAMESPACES).watch({ timeoutSeconds: 60 }, stop.signal);
      const seen: string[] = [];
      const reading = (async () => {
        for await (const event of events) if (event.type !== "BOOKMARK") seen.push(event.object.metadata.name);
      })().catch((fault: unknown) => fault);
      write("me.crt", bob.certificate);
      write("me.key", bob.key);
      clock.forwardMs += 6_000;
      expect(await whoAmI(client)).toBe("bob");
      await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "rotated" } });
      await eventually(() => seen.includes("rotated"), { what: "the old watch to continue" });
      stop.abort();
      expect(await reading).toMatchObject({ kind: "cancelled" });
    });

    test("re-reads a rotated token file at once when the old token is rejected", async () => {
      const tokenFile = write("token", "tok-wrong\n");
      const client = fromConfig({ user: { tokenFile } });
      await expect(whoAmI(client)).rejects.toMatchObject({ kind: "unauthenticated" });
      write("token", "tok-admin\n");
      // Two requests at once: both were sent with the old token, and both must use the new one.
      expect(await Promise.all([whoAmI(client), whoAmI(client)])).toEqual(["admin", "admin"]);
      write("token", "");
      expect(await whoAmI(client)).toBe("admin");
    });

    test("names a missing token file", async () => {
      const client = fromConfig({ user: { tokenFile: join(folder, "nothing") } });
      await expect(whoAmI(client)).rejects.toMatchObject({
        kind: "failed-precondition",
        message: expect.stringMatching(/cannot read .*nothing/) as string,
      });
    });

    test("impersonates a user", async () => {
      const user = { token: "tok-admin", as: "carol", "as-groups": ["system:masters", "a,b"] };
      expect(await whoAmI(fromConfig({ user }))).toBe("carol");
    });

    test("does not retry an anonymous request that is rejected", async () => {
      const fault = (await whoAmI(fromConfig({ user: { token: "tok-unknown" } })).catch(
        (thrown: unknown) => thrown,
      )) as Fault;
      expect([fault.kind, fault.retryable]).toEqual(["unauthenticated", false]);
    });
  });

  describe("exec plugin", () => {
    /**
     * A plugin that logs each run and prints the content of `answer`. Its path is relative to the kubeconfig, as
     * kubectl allows.
     */
    const plugin = (
      name: string,
    ): { user: object; answer: (status: object) => void; runs: () => { spec: object }[] } => {
      const runs = join(folder, `${name}.runs`);
      const script = `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> ${runs}\n[ "$MODE" = fail ] && { echo "no network" >&2; exit 3; }\ncat ${join(folder, name)}.answer\n`;
      chmodSync(write(name, script), 0o755);
      const exec = { apiVersion: "client.authentication.k8s.io/v1", command: `./${name}`, provideClusterInfo: true };
      return {
        user: { exec: { ...exec, env: [{ name: "MODE", value: name }], installHint: "install it" } },
        answer: (status) =>
          void write(`${name}.answer`, JSON.stringify({ apiVersion: exec.apiVersion, kind: "ExecCredential", status })),
        runs: () =>
          existsSync(runs)
            ? readFileSync(runs, "utf8")
                .trim()
                .split("\n")
                .map((line) => JSON.parse(line) as { spec: object })
            : [],
      };
    };

    test("provides a token, runs once for concurrent calls, and again when the token expires or is rejected", async () => {
      const clock = movableClock();
      const { user, answer, runs } = plugin("login");
      const inOneHour = new Date(realAmbient.clock.now() + 3_600_000).toISOString();
      answer({ token: "tok-admin", expirationTimestamp: inOneHour });
      const client = fromConfig({ user }, { clock });
      expect(await Promise.all([whoAmI(client), whoAmI(client), whoAmI(client)])).toEqual(["admin", "admin", "admin"]);
      expect(runs()).toHaveLength(1);
      expect(runs()[0]?.spec).toMatchObject({
        interactive: false,
        cluster: { server: server.access.server, "certificate-authority-data": base64(server.authority) },
      });
      clock.forwardMs += 3_600_000;
      answer({ token: "tok-revoked" });
      await expect(whoAmI(client)).rejects.toMatchObject({ kind: "unauthenticated" });
      expect(runs()).toHaveLength(2);
      await expect(whoAmI(client)).rejects.toMatchObject({ kind: "unauthenticated" });
      expect(runs()).toHaveLength(2);
      clock.forwardMs += 10_000;
      answer({ token: "tok-admin" });
      expect(await whoAmI(client)).toBe("admin");
      expect(runs()).toHaveLength(3);
    });

    test("provides a client certificate", async () => {
      const { user, answer } = plugin("certificate");
      const dave = server.issue({ commonName: "dave", organization: "system:masters" });
      answer({ clientCertificateData: dave.certificate, clientKeyData: dave.key });
      expect(await whoAmI(fromConfig({ user }))).toBe("dave");
    });

    test("reports its own error output and the install hint when it fails or prints invalid output", async () => {
      await expect(whoAmI(fromConfig({ user: plugin("fail").user }))).rejects.toMatchObject({
        kind: "unauthenticated",
        message: expect.stringMatching(/no network.*install it/) as string,
      });
      const { user, answer } = plugin("empty");
      answer({});
      await expect(whoAmI(fromConfig({ user }))).rejects.toMatchObject({ kind: "unauthenticated" });
    });
  });

  test("finds the service account of a Pod by the environment and re-reads its rotated token", async () => {
    const accountFolder = join(folder, "account");
    mkdirSync(accountFolder);
    writeFileSync(join(accountFolder, "ca.crt"), server.authority);
    writeFileSync(join(accountFolder, "namespace"), "team");
    writeFileSync(join(accountFolder, "token"), "tok-admin");
    const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(server.port) };
    const access = loadAccess({ env, accountFolder });
    expect(access).toMatchObject({ namespace: "team", server: server.access.server });
    const clock = movableClock();
    const client = new KubeClient({ transport: createUndiciTransport(access, { clock }), ambient: realAmbient });
    clients.push(client);
    expect(await whoAmI(client)).toBe("admin");
    writeFileSync(join(accountFolder, "token"), "tok-wrong");
    clock.forwardMs += 6_000;
    await expect(whoAmI(client)).rejects.toMatchObject({ kind: "unauthenticated" });
    writeFileSync(join(accountFolder, "token"), "tok-admin");
    expect(await whoAmI(client)).toBe("admin");
  });

  describe("a proxy", () => {
    let proxy: Server;
    let tunnels: string[];

    beforeAll(async () => {
      tunnels = [];
      proxy = createServer();
      proxy.on("connect", ({ url = "", headers }, socket) => {
        tunnels.push(`${url} ${headers["proxy-authorization"] ?? ""}`.trim());
        const target = connect(server.port, "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 OK\r\n\r\n");
          target.pipe(socket).pipe(target);
        });
        for (const end of [socket, target]) end.on("error", () => [socket, target].forEach((each) => each.destroy()));
      });
      await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    });
    afterAll(() => new Promise<void>((resolve) => void proxy.close(() => resolve())));

    const proxyUrl = (): string => `http://me:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;

    test("of the kubeconfig is used for calls and watches, with its password", async () => {
      tunnels.length = 0;
      const client = fromConfig({ cluster: { "proxy-url": proxyUrl() } });
      expect(await whoAmI(client)).toBe("admin");
      const stop = new AbortController();
      for await (const event of await client.resource(NAMESPACES).watch({}, stop.signal)) {
        expect(event.type).toBe("ADDED");
        break;
      }
      stop.abort();
      expect(tunnels).toHaveLength(2);
      expect(tunnels[0]).toBe(`127.0.0.1:${server.port} Basic ${base64("me:secret")}`);
      await client.close();
    });

    test("of the environment is used unless NO_PROXY excludes the server", async () => {
      // Loopback is never proxied by the environment, so the server needs a name that the proxy resolves.
      const cluster = { server: "https://api.test:6443" };
      tunnels.length = 0;
      const client = fromConfig({ cluster }, { env: { HTTPS_PROXY: proxyUrl(), NO_PROXY: "other.test" } });
      expect(await whoAmI(client)).toBe("admin");
      expect(tunnels[0]).toMatch(/^api\.test:6443 /);
      await client.close();
      const direct = fromConfig({ cluster }, { env: { HTTPS_PROXY: proxyUrl(), NO_PROXY: "api.test" } });
      await expect(whoAmI(direct)).rejects.toMatchObject({ kind: "unavailable" });
      expect(tunnels).toHaveLength(1);
    });

    test("that is unreachable is reported", async () => {
      const client = fromConfig({ cluster: { "proxy-url": "http://127.0.0.1:9" } });
      await expect(whoAmI(client)).rejects.toMatchObject({ kind: "unavailable" });
    });
  });
});
