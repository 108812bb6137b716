import { execFile } from "node:child_process";
import { connect as connectHttp2, createServer as createHttp2, type ServerHttp2Session } from "node:http2";
import { connect, type AddressInfo } from "node:net";
import { promisify } from "node:util";
import { realAmbient } from "@oaas/foundation/real";
import { CrmInfoService, DeploymentService, grpcHealth, HealthService, TopologyService } from "@oaas/contracts/grpc";
import { Fault } from "@oaas/foundation";
import { createAsyncContext } from "@oaas/observability/node";
import { eventually, makeAuthority } from "@oaas/testkit";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { RpcChannel, type ChannelOptions } from "../src/index.ts";
import { serve, type Serving } from "./serving.ts";

const run = promisify(execFile);

async function faultOf(work: Promise<unknown>): Promise<Fault> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(Fault);
  return thrown as Fault;
}

describe("server and client", () => {
  let serving: Serving;
  const channels: RpcChannel[] = [];
  const channelTo = (options: Partial<ChannelOptions> = {}): RpcChannel => {
    const channel = new RpcChannel({
      name: "the server",
      address: `127.0.0.1:${serving.port}`,
      clock: realAmbient.clock,
      ...options,
    });
    channels.push(channel);
    return channel;
  };
  const deployments = (options: Partial<ChannelOptions> = {}) => channelTo(options).client(DeploymentService);

  beforeAll(async () => void (serving = await serve()));
  afterEach(() => {
    for (const channel of channels.splice(0)) channel.close();
  });
  afterAll(() => serving.onePort.close(1_000));

  test("makes a call", async () => {
    const reply = await deployments().deploy({ deploymentUnit: { id: "one", functions: [{ functionKey: "f" }] } });
    expect(reply.deploymentId).toBe("one");
    expect(serving.received.deployed.at(-1)?.deploymentUnit?.functions[0]?.functionKey).toBe("f");
  });

  test.each([
    ["invalid", "invalid-argument", /id is invalid|choose another/],
    ["rejected", "failed-precondition", /ODGM is disabled/],
    ["crash", "internal", /internal error/],
  ])("a handler that throws (%s): the client gets the same fault", async (id, kind, message) => {
    const fault = await faultOf(
      deployments().deploy({ deploymentUnit: { id } }, { headers: { "x-correlation-id": "c-1" } }),
    );
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(message);
    expect(fault.message).not.toContain("secret");
    expect(fault.correlationId).toBe("c-1");
    if (kind === "invalid-argument")
      expect(fault.violations).toEqual([
        { path: "$.deployment_unit.id", message: "is invalid", fix: "choose another" },
      ]);
  });

  test("forwards the correlation id of the work context", async () => {
    const context = createAsyncContext();
    const client = deployments({ context });
    await context.run({ correlationId: "from-context" as never }, () =>
      client.deploy({ deploymentUnit: { id: "ctx" } }),
    );
    expect(serving.received.calls.at(-1)?.correlationId).toBe("from-context");
  });

  test("the deadline ends the call on both sides", async () => {
    const before = serving.received.deployed.length;
    // On a busy machine a short time is over before the call has come to the server: then it is given more.
    for (let deadlineMs = 150; serving.received.deployed.length === before; deadlineMs *= 2) {
      const fault = await faultOf(deployments().deploy({ deploymentUnit: { id: "slow" } }, { deadlineMs }));
      expect(fault.kind).toBe("deadline-exceeded");
    }
    await eventually(() => serving.received.aborted.length > 0);
    expect(serving.received.calls.at(-1)?.remainingMs()).toBeDefined();
  });

  test("an abort cancels the call at the server", async () => {
    const before = serving.received.aborted.length;
    const caller = new AbortController();
    const work = faultOf(deployments().deploy({ deploymentUnit: { id: "slow" } }, { signal: caller.signal }));
    await eventually(() => serving.received.deployed.at(-1)?.deploymentUnit?.id === "slow" && serving.rpc.inFlight > 0);
    caller.abort();
    expect((await work).kind).toBe("cancelled");
    await eventually(() => serving.received.aborted.length > before);
  });

  test("ends a stream at the server when the client leaves it", async () => {
    const received: string[] = [];
    for await (const event of deployments().watchClassRuntimes({})) {
      received.push(event.resumeToken);
      if (received.length === 3) break;
    }
    expect(received).toEqual(["0", "1", "2"]);
    await eventually(() => serving.received.aborted.includes("watch ended"));
  });

  test("returns the fault of a stream, before and after the first message", async () => {
    const watching = (async () => {
      for await (const _event of deployments().watchClassRuntimes({ packageName: "rejected" }, { deadlineMs: 10_000 }))
        return;
    })();
    const fault = await faultOf(watching);
    expect(fault.kind).toBe("failed-precondition");
    expect(fault.message).toContain("cannot be watched");
    expect(serving.rpc.inFlight).toBe(0);
  });

  test("returns UNIMPLEMENTED for an unknown method or service", async () => {
    expect((await faultOf(deployments().getDeploymentStatus({}))).kind).toBe("unimplemented");
    expect((await faultOf(channelTo().client(TopologyService).getTopology({}))).kind).toBe("unimplemented");
  });

  test("returns UNAVAILABLE when no server listens", async () => {
    const nowhere = deployments({ address: "127.0.0.1:1" });
    expect((await faultOf(nowhere.deploy({}, { deadlineMs: 5_000 }))).kind).toBe("unavailable");
  });

  describe("both health services", () => {
    test("check returns the state, watch sends every change", async () => {
      const channel = channelTo();
      const health = channel.client(grpcHealth.Health);
      expect((await health.check({ service: "" })).status).toBe(2);
      const received: number[] = [];
      const caller = new AbortController();
      const watching = (async () => {
        for await (const { status } of channel
          .client(HealthService)
          .watch({ service: "part" }, { signal: caller.signal }))
          received.push(status);
      })().catch(() => undefined);
      await eventually(() => received.length === 1);
      serving.health.set("part", "serving");
      await eventually(() => received.length === 2);
      serving.health.set("part", "not-serving");
      await eventually(() => received.length === 3);
      expect(received).toEqual([3, 1, 2]);
      caller.abort();
      await watching;
      expect((await faultOf(health.check({ service: "nope" }))).kind).toBe("not-found");
    });
  });

  describe("foreign clients", () => {
    const curl = (...args: string[]) =>
      run("buf", ["curl", "--protocol", "grpc", "--http2-prior-knowledge", ...args], { timeout: 30_000 }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );

    test("buf curl calls the services by reflection", async () => {
      const url = `http://127.0.0.1:${serving.port}`;
      const listed = await curl("--list-services", url);
      expect(listed.stdout.split("\n")).toContain("oaas.deployment.DeploymentService");
      const reply = await curl("-d", '{"env":"here"}', `${url}/${CrmInfoService.typeName}/GetEnvHealth`);
      expect(JSON.parse(reply.stdout)).toMatchObject({ envName: "here", status: "Healthy" });
      const rejected = await curl(
        "-d",
        '{"deploymentUnit":{"id":"rejected"}}',
        `${url}/${DeploymentService.typeName}/Deploy`,
      );
      expect(rejected.stderr).toContain("failed_precondition");
      expect(rejected.stderr).toContain("ODGM is disabled");
    });

    test.each([
      ["bytes that are not a message", Buffer.from([0, 0, 0, 0, 3, 0xff, 0xff, 0xff]), "3"],
      ["a truncated field", Buffer.from([0, 0, 0, 0, 2, 0x0a, 0x50]), "3"],
    ])("%s: INVALID_ARGUMENT, and the server lives", async (_name, body, code) => {
      const session = connectHttp2(`http://127.0.0.1:${serving.port}`);
      const status = await new Promise<string>((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": `/${DeploymentService.typeName}/Deploy`,
          "content-type": "application/grpc",
          te: "trailers",
        });
        stream.on(
          "response",
          (headers) => headers["grpc-status"] !== undefined && resolve(String(headers["grpc-status"])),
        );
        stream.on("trailers", (trailers) => resolve(String(trailers["grpc-status"])));
        stream.on("error", reject);
        stream.resume();
        stream.end(body);
      });
      session.close();
      expect(status).toBe(code);
      expect((await deployments().deploy({ deploymentUnit: { id: "alive" } })).deploymentId).toBe("alive");
    });

    test("serves HTTP/1.1 on the same port, also in pieces, and survives garbage", async () => {
      expect(await (await fetch(`http://127.0.0.1:${serving.port}/health`)).text()).toBe("http GET /health");
      const slow = connect(serving.port, "127.0.0.1");
      const answer = new Promise<string>((resolve) => void slow.once("data", (chunk) => resolve(String(chunk))));
      for (const byte of "PRI /x HTTP/1.1\r\nhost: a\r\n\r\n") slow.write(byte);
      expect(await answer).toMatch(/^HTTP\/1\.1 /);
      slow.destroy();
      const rubbish = connect(serving.port, "127.0.0.1");
      rubbish.on("error", () => undefined);
      rubbish.write(Buffer.from([0, 1, 2, 3, 255, 254]));
      await eventually(() => rubbish.destroyed || rubbish.readableEnded || rubbish.bytesRead > 0);
      rubbish.destroy();
      expect((await deployments().deploy({ deploymentUnit: { id: "still" } })).deploymentId).toBe("still");
    });
  });
});

describe("a peer with invalid responses", () => {
  const FRAMES = {
    "bytes of no message": Buffer.from([0, 0, 0, 0, 5, 255, 255, 255, 255, 255]),
    "half a frame": Buffer.from([0, 0, 0, 0, 9, 10]),
    "a frame of two gigabytes": Buffer.from([0, 0x7f, 255, 255, 255]),
    "a compressed frame without an announced encoding": Buffer.from([1, 0, 0, 0, 1, 0]),
    "no message at all": Buffer.alloc(0),
  };

  test.each(Object.entries(FRAMES))("%s: rejects the call with a fault", async (_, frame) => {
    const peer = createHttp2();
    const sessions = new Set<ServerHttp2Session>();
    peer.on("session", (session) => sessions.add(session));
    peer.on("stream", (stream) => {
      stream.on("error", () => undefined);
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.end(frame);
    });
    await new Promise<void>((resolve) => void peer.listen(0, "127.0.0.1", resolve));
    const { port } = peer.address() as AddressInfo;
    const channel = new RpcChannel({ name: "the peer", address: `127.0.0.1:${port}`, clock: realAmbient.clock });
    const client = channel.client(DeploymentService);
    try {
      expect((await faultOf(client.deploy({}))).message).toContain("the peer");
      // A stream of nothing, or of half a message, has ended; that is for its reader to judge.
      const read = async (): Promise<readonly unknown[]> => {
        const changes: unknown[] = [];
        for await (const change of client.watchClassRuntimes({})) changes.push(change);
        return changes;
      };
      const changes = await read().catch((error: unknown) => error);
      if (changes instanceof Fault) expect(changes.message).toContain("the peer");
      else expect(changes).toEqual([]);
    } finally {
      channel.close();
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => void peer.close(resolve));
    }
  });
});

describe("authorisation", () => {
  test("a rejected call does not reach its handler", async () => {
    const serving = await serve({
      authorize: (_method, call) => {
        if (call.header("authorization") !== "Bearer good")
          throw new Fault({ kind: "unauthenticated" }, "send a token");
      },
    });
    const options = { name: "server", address: `127.0.0.1:${serving.port}`, clock: realAmbient.clock };
    const stranger = new RpcChannel(options);
    const friend = new RpcChannel({ ...options, token: () => "good" });
    expect((await faultOf(stranger.client(DeploymentService).deploy({}))).kind).toBe("unauthenticated");
    expect(serving.received.deployed).toHaveLength(0);
    expect((await friend.client(DeploymentService).deploy({ deploymentUnit: { id: "ok" } })).deploymentId).toBe("ok");
    stranger.close();
    friend.close();
    await serving.onePort.close(500);
  });
});

describe("stopping", () => {
  test("finishes running calls, rejects new ones as retryable, aborts hanging ones", async () => {
    const serving = await serve();
    const channel = new RpcChannel({ name: "server", address: `127.0.0.1:${serving.port}`, clock: realAmbient.clock });
    const client = channel.client(DeploymentService);
    await client.deploy({ deploymentUnit: { id: "warm" } });
    const hanging = faultOf(client.deploy({ deploymentUnit: { id: "slow" } }, { deadlineMs: 20_000 }));
    await eventually(() => serving.rpc.inFlight === 1);
    const closing = serving.onePort.close(300);
    const late = await faultOf(client.deploy({ deploymentUnit: { id: "late" } }));
    expect(late.retryable).toBe(true);
    expect((await hanging).retryable).toBe(true);
    await closing;
    expect(serving.rpc.inFlight).toBe(0);
    channel.close();
  });
});

test("ends watches when it stops, without waiting for the grace period of calls", async () => {
  const serving = await serve();
  const channel = new RpcChannel({ name: "server", address: `127.0.0.1:${serving.port}`, clock: realAmbient.clock });
  let seen = 0;
  const watching = (async () => {
    for await (const _change of channel.client(DeploymentService).watchClassRuntimes({})) seen += 1;
  })();
  const ended = faultOf(watching);
  await eventually(() => seen > 0);
  // Longer than the time limit of this test.
  await serving.onePort.close(3_600_000);
  expect(await ended).toMatchObject({ kind: "unavailable", retryable: true });
  channel.close();
});

describe("TLS", () => {
  test("verifies both sides and passes the client name to the handler", async () => {
    const authority = makeAuthority("test");
    const server = authority.issue({ commonName: "crm", hosts: ["127.0.0.1", "localhost"] });
    const pm = authority.issue({ commonName: "pm" });
    const serving = await serve({
      tls: {
        cert: server.certificate,
        key: server.key,
        ca: authority.certificate,
        requestCert: true,
        rejectUnauthorized: true,
      },
    });
    const base = { name: "server", address: `localhost:${serving.port}`, clock: realAmbient.clock };
    const known = new RpcChannel({
      ...base,
      tls: { ca: authority.certificate, certificate: pm.certificate, key: pm.key },
    });
    expect((await known.client(DeploymentService).deploy({ deploymentUnit: { id: "tls" } })).deploymentId).toBe("tls");
    expect(serving.received.calls.at(-1)?.peer.certificate?.commonName).toBe("pm");
    const anonymous = new RpcChannel({ ...base, tls: { ca: authority.certificate } });
    expect((await faultOf(anonymous.client(DeploymentService).deploy({}, { deadlineMs: 3_000 }))).retryable).toBe(true);
    known.close();
    anonymous.close();
    await serving.onePort.close(500);
  });
});
