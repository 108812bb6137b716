import { connect as connectHttp2, type ClientHttp2Session } from "node:http2";
import { createServer, connect as connectTls } from "node:tls";
import type { AddressInfo } from "node:net";
import { DeploymentService } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { eventually, makeAuthority } from "@oaas/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { readPeerCertificate, rulesOfCertificate, RpcChannel } from "../src/index.ts";
import { serve, type Serving } from "./serving.ts";

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serving(options: Parameters<typeof serve>[0]): Promise<Serving> {
  const started = await serve(options);
  closers.push(() => started.onePort.close(200));
  return started;
}

function sessionTo(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  closers.push(() => session.destroy());
  return session;
}

function channelTo(port: number): RpcChannel {
  const channel = new RpcChannel({ name: "server", address: `127.0.0.1:${port}`, clock: realAmbient.clock });
  closers.push(() => channel.close());
  return channel;
}

const deployHeaders = {
  ":method": "POST",
  ":path": `/${DeploymentService.typeName}/Deploy`,
  "content-type": "application/grpc",
  te: "trailers",
};

test("rejects a call by its headers, while its request is still being sent", async () => {
  const { port, received } = await serving({
    authorize: () => {
      throw new Fault({ kind: "unauthenticated" }, "send a token");
    },
  });
  const stream = sessionTo(port).request({ ...deployHeaders, "x-correlation-id": "c-early" }, { endStream: false });
  const status = await new Promise<string>((resolve, reject) => {
    stream.on("response", (headers) => expect(headers["x-correlation-id"]).toBe("c-early"));
    stream.on("trailers", (trailers) => resolve(String(trailers["grpc-status"])));
    stream.on("error", reject);
    stream.resume();
    stream.write(Buffer.from([0, 0, 0x7f, 0, 0]));
  });
  expect(status).toBe("16");
  expect(received.deployed).toEqual([]);
  stream.destroy();
});

test("names the authorised caller in the call, and reports rejected ones", async () => {
  const rejected: string[] = [];
  const { port, received } = await serving({
    authorize: async (_, head) => {
      const name = head.header("x-name");
      if (name === "eve") throw new Fault({ kind: "permission-denied", action: "deploy" }, "not eve");
      return name;
    },
    onRejected: ({ name }, { peer }, fault) => rejected.push(`${name} ${peer.address} ${fault.kind}`),
  });
  const client = channelTo(port).client(DeploymentService);
  await client.deploy({ deploymentUnit: { id: "a" } }, { headers: { "x-name": "ann" } });
  await client.deploy({ deploymentUnit: { id: "b" } });
  await expect(client.deploy({}, { headers: { "x-name": "eve" } })).rejects.toMatchObject({
    kind: "permission-denied",
  });
  expect(received.calls.map(({ caller }) => caller)).toEqual(["ann", "anonymous@127.0.0.1"]);
  expect(rejected).toEqual(["Deploy 127.0.0.1 permission-denied"]);
});

test("limits running calls per caller over all its connections, and frees them when they end", async () => {
  const { port, rpc } = await serving({ maxCallsPerCaller: 2, authorize: (_, head) => head.header("x-name") });
  const [first, second] = [channelTo(port), channelTo(port)].map((channel) => channel.client(DeploymentService));
  if (!first || !second) throw new Error("no channels");
  const caller = new AbortController();
  const running = [first, second].map((client) =>
    client.deploy({ deploymentUnit: { id: "slow" } }, { signal: caller.signal }).catch(() => undefined),
  );
  await eventually(() => rpc.inFlight === 2);
  await expect(second.deploy({ deploymentUnit: { id: "third" } })).rejects.toMatchObject({
    kind: "resource-exhausted",
    message: expect.stringContaining("anonymous@127.0.0.1 has 2 running calls") as string,
  });
  const other = await second.deploy({ deploymentUnit: { id: "other" } }, { headers: { "x-name": "ann" } });
  expect(other.deploymentId).toBe("other");
  caller.abort();
  await Promise.all(running);
  await eventually(async () => (await first.deploy({ deploymentUnit: { id: "again" } })).deploymentId === "again");
});

describe("names in a client certificate", () => {
  const authority = makeAuthority("clients");
  const server = makeAuthority("servers").issue({ commonName: "server", hosts: ["localhost"] });

  /** The names that a server reads after a handshake. */
  async function namesOf(request: Parameters<typeof authority.issue>[0]): Promise<readonly string[]> {
    const { certificate, key } = authority.issue(request);
    const names = Promise.withResolvers<readonly string[]>();
    const listener = createServer(
      { cert: server.certificate, key: server.key, ca: authority.certificate, requestCert: true },
      (socket) => {
        names.resolve(readPeerCertificate(socket.getPeerCertificate()).names);
        socket.destroy();
      },
    );
    await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
    const { port } = listener.address() as AddressInfo;
    const client = connectTls({ port, host: "127.0.0.1", cert: certificate, key, rejectUnauthorized: false });
    client.on("error", () => undefined);
    closers.push(() => listener.close());
    return names.promise;
  }

  test("common name, DNS names in lower case, URIs", async () => {
    const uris = ["spiffe://oaas/pm"];
    expect(await namesOf({ commonName: "pm", hosts: ["PM.oaas", "10.0.0.1"], uris })).toEqual([
      "CN:pm",
      "DNS:pm.oaas",
      "IP Address:10.0.0.1",
      "URI:spiffe://oaas/pm",
    ]);
  });

  test.each([
    "https://a.test/x, DNS:pm.oaas, URI:y",
    'https://a.test/", DNS:pm.oaas, URI:"y',
    'x", URI:spiffe://oaas/pm',
  ])("a URI cannot smuggle in another name: %s", async (uri) => {
    expect(await namesOf({ commonName: "eve", uris: [uri] })).toEqual(["CN:eve"]);
  });

  test("a common name cannot pass for a DNS name", async () => {
    expect(await namesOf({ commonName: "DNS:pm.oaas" })).toEqual(["CN:DNS:pm.oaas"]);
  });

  test("rules apply by exact name, and * to every certificate", () => {
    const rules = [
      { name: "CN:pm", role: "deployer" },
      { name: "DNS:pm", role: "admin" },
      { name: "*", role: "viewer" },
    ];
    const rolesOf = (...names: string[]) =>
      rulesOfCertificate(rules, { commonName: undefined, names }).map(({ role }) => role);
    expect(rolesOf("CN:pm")).toEqual(["deployer", "viewer"]);
    expect(rolesOf("CN:pm-2", "URI:CN:pm")).toEqual(["viewer"]);
  });
});
