import { constants, connect as connectHttp2, type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import { connect, type Socket } from "node:net";
import { CrmInfoService, DeploymentService, grpcReflection } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { createRecordingMeter } from "@oaas/observability/testing";
import { eventually, makeAuthority } from "@oaas/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { RpcChannel } from "../src/index.ts";
import { serve, type Serving } from "./serving.ts";

const SHORT = { headersTimeoutMs: 300, requestTimeoutMs: 300 };

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function serving(options: Parameters<typeof serve>[0]): Promise<Serving> {
  const started = await serve(options);
  closers.push(() => started.onePort.close(200));
  return started;
}

/** A connection from another address than the clients that must be served. */
function rawSocket(port: number, first?: string | Buffer): Socket {
  const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
  socket.on("error", () => undefined);
  socket.resume();
  if (first !== undefined) socket.write(first);
  closers.push(() => socket.destroy());
  return socket;
}

function sessionTo(port: number): ClientHttp2Session {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  closers.push(() => session.destroy());
  return session;
}

function request(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  const stream = session.request(
    { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" },
    { endStream: false },
  );
  stream.on("error", () => undefined);
  stream.resume();
  return stream;
}

async function isServing({ port }: Serving): Promise<boolean> {
  const channel = new RpcChannel({ name: "server", address: `127.0.0.1:${port}`, clock: realAmbient.clock });
  const { envName } = await channel
    .client(CrmInfoService)
    .getEnvHealth({ env: "alive" })
    .finally(() => channel.close());
  return envName === "alive";
}

const DEPLOY = `/${DeploymentService.typeName}/Deploy`;
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** An HTTP/2 frame. */
function frame(type: number, flags: number, stream: number, payload = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header.writeUInt8(type, 3);
  header.writeUInt8(flags, 4);
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

describe("half a request does not stay open", () => {
  test.each([
    { case: "nothing", bytes: undefined },
    { case: "half an HTTP/2 preface", bytes: "PRI * HT" },
    { case: "half a request line", bytes: "GET /he" },
    { case: "headers without an end", bytes: "GET /health HTTP/1.1\r\nhost: a\r\nx: " },
    { case: "half a body", bytes: "POST /x HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf" },
  ])("$case", async ({ bytes }) => {
    const server = await serving({ limits: SHORT });
    const socket = rawSocket(server.port, bytes);
    await eventually(() => socket.closed, { what: "the connection to be closed" });
    expect(await isServing(server)).toBe(true);
  });

  test("half a TLS handshake", async () => {
    const { certificate, key } = makeAuthority("servers").issue({ commonName: "server", hosts: ["localhost"] });
    const { port } = await serving({ limits: SHORT, tls: { cert: certificate, key } });
    const socket = rawSocket(port, Buffer.from([0x16, 3, 1, 2, 0, 1, 0]));
    await eventually(() => socket.closed, { what: "the connection to be closed" });
  });

  test("half a gRPC request, while other streams of the connection go on", async () => {
    const { port, rpc, received } = await serving({ limits: SHORT });
    const session = sessionTo(port);
    const slow = request(session, DEPLOY);
    slow.end(Buffer.from([0, 0, 0, 0, 8, 0x0a, 0x06, 0x0a, 0x04, ...Buffer.from("slow")]));
    await eventually(() => rpc.inFlight === 1, { what: "a complete request to be handled" });
    const half = request(session, DEPLOY);
    half.write(Buffer.from([0, 0, 0, 1, 0, 1]));
    await eventually(() => half.closed, { what: "the stream to be reset" });
    expect(half.rstCode).toBe(constants.NGHTTP2_CANCEL);
    expect([slow.closed, rpc.inFlight, received.deployed.length]).toEqual([false, 1, 1]);
  });

  test("a reflection stream without requests", async () => {
    const { port } = await serving({ limits: SHORT });
    const stream = request(sessionTo(port), `/${grpcReflection.ServerReflection.typeName}/ServerReflectionInfo`);
    await eventually(() => stream.closed, { what: "the stream to be reset" });
  });

  test("an HTTP/2 connection without calls", async () => {
    const server = await serving({ limits: { idleTimeoutMs: 300 } });
    // HEADERS without END_HEADERS: the stream never opens.
    const socket = rawSocket(
      server.port,
      Buffer.concat([PREFACE, frame(4, 0, 0), frame(1, 0, 1, Buffer.from([0x82]))]),
    );
    const idle = sessionTo(server.port);
    await eventually(() => socket.closed && idle.closed, { what: "both connections to be closed" });
    expect(await isServing(server)).toBe(true);
  });
});

describe("limits", () => {
  test("closes connections beyond the limit of an address, and serves other addresses", async () => {
    const meter = createRecordingMeter();
    const server = await serving({ limits: { connectionsPerAddress: 4 }, meter });
    const sockets = Array.from({ length: 10 }, () => rawSocket(server.port));
    await eventually(() => sockets.filter(({ closed }) => closed).length === 6, { what: "six to be closed" });
    expect(await isServing(server)).toBe(true);
    expect(meter.value("grpc_server_connections_rejected_total", { limit: "address" })).toBe(6);
    for (const socket of sockets) socket.destroy();
    await eventually(() => sockets.every(({ closed }) => closed));
    const isServed = async (): Promise<boolean> => {
      const again = rawSocket(server.port, "GET / HTTP/1.1\r\nhost: a\r\n\r\n");
      await eventually(() => again.bytesRead > 0 || again.closed);
      return again.bytesRead > 0;
    };
    await eventually(isServed, { what: "a new connection to be served" });
  });

  test("closes connections beyond the limit of the port", async () => {
    const meter = createRecordingMeter();
    const { port } = await serving({ limits: { connections: 2 }, meter });
    const sockets = Array.from({ length: 3 }, () => rawSocket(port));
    await eventually(() => sockets.filter(({ closed }) => closed).length === 1);
    expect(meter.value("grpc_server_connections_rejected_total", { limit: "connections" })).toBe(1);
  });

  test("announces the limit of concurrent streams to clients", async () => {
    const { port } = await serving({ limits: { streamsPerConnection: 3 } });
    const session = sessionTo(port);
    await eventually(() => session.remoteSettings?.maxConcurrentStreams === 3);
    expect(session.remoteSettings.maxHeaderListSize).toBe(16_384);
  });

  test("limits the bytes of requests in flight, and frees them when a call ends", async () => {
    const server = await serving({ maxRequestBytesInFlight: 100_000 });
    const session = sessionTo(server.port);
    const open = (bytes: number): ClientHttp2Stream => {
      const stream = request(session, DEPLOY);
      const head = Buffer.alloc(5);
      head.writeUInt32BE(1_000_000, 1);
      stream.write(Buffer.concat([head, Buffer.alloc(bytes)]));
      return stream;
    };
    const [first, second] = [open(60_000), open(60_000)];
    await eventually(() => first.closed || second.closed, { what: "one call to be rejected" });
    const [rejected, other] = first.closed ? [first, second] : [second, first];
    expect(rejected.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(other.closed).toBe(false);
    expect(await isServing(server)).toBe(true);
    other.close();
    await eventually(async () => {
      const next = open(60_000);
      await new Promise<void>((resolve) => void realAmbient.timers.after(50, resolve));
      const isAccepted = !next.closed;
      next.close();
      return isAccepted;
    });
  });
});

describe("others are served during floods of HTTP/2 frames", () => {
  const HEADERS_OF_CALL = Buffer.concat([
    // :method POST, :scheme http, :path /x, content-type application/grpc as literals without indexing
    Buffer.from([0x83, 0x86, 0x04, 2]),
    Buffer.from("/x"),
    Buffer.from([0x0f, 0x10, 16]),
    Buffer.from("application/grpc"),
  ]);
  const flood = (each: (index: number) => Buffer, count: number): Buffer[] =>
    Array.from({ length: Math.ceil(count / 1_000) }, (_, block) =>
      Buffer.concat(Array.from({ length: 1_000 }, (_unused, index) => each(block * 1_000 + index))),
    );

  test.each([
    { case: "pings", each: () => frame(6, 0, 0, Buffer.alloc(8)), ends: false },
    { case: "settings", each: () => frame(4, 0, 0), ends: false },
    {
      case: "streams that are reset at once",
      each: (index: number) =>
        Buffer.concat([
          frame(1, 4, index * 2 + 1, HEADERS_OF_CALL),
          frame(3, 0, index * 2 + 1, Buffer.from([0, 0, 0, 8])),
        ]),
      ends: true,
    },
    { case: "data without a stream", each: () => frame(0, 0, 1, Buffer.alloc(1)), ends: true },
    {
      case: "headers that never end",
      each: (index: number) =>
        frame(index === 0 ? 1 : 9, 0, 1, Buffer.concat([Buffer.from([0, 1, 97, 100]), Buffer.alloc(100, 98)])),
      ends: true,
    },
  ])("$case", async ({ each, ends }) => {
    const server = await serving({});
    const socket = rawSocket(server.port, Buffer.concat([PREFACE, frame(4, 0, 0)]));
    for (const block of flood(each, 20_000)) {
      if (!socket.writable) break;
      if (!socket.write(block)) await eventually(() => socket.writableLength === 0 || !socket.writable);
      expect(await isServing(server)).toBe(true);
    }
    if (ends) await eventually(() => socket.closed, { what: "the connection to be closed" });
  });
});
