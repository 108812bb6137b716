import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Channel } from "./channel.ts";
import { frame } from "./frames.ts";

let server: Http2Server;
/** A proxy that can stop forwarding. */
let wire: Server;
let sockets: Socket[];
let sessions: ServerHttp2Session[];
let pings: number;
let channel: Channel;
let warnings: string[];
const { time, timers } = virtualAmbient(1);
const portOf = (listening: Server | Http2Server): number => (listening.address() as AddressInfo).port;
const noteWarning = ({ name }: Error): number => warnings.push(name);

beforeEach(async () => {
  sessions = [];
  sockets = [];
  pings = 0;
  warnings = [];
  process.on("warning", noteWarning);
  server = createServer({ maxSessionMemory: 4096, settings: { initialWindowSize: 1_000_000 } });
  server.on("session", (session) => {
    sessions.push(session);
    session.on("ping", () => (pings += 1));
  });
  server.on("stream", (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.resume();
    stream.on("end", () => stream.end(frame(Buffer.from("pong"))));
  });
  wire = createTcpServer({ noDelay: true }, (near) => {
    const far = connect({ port: portOf(server), host: "127.0.0.1", noDelay: true });
    sockets.push(near, far);
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.pipe(far).pipe(near);
  });
  for (const each of [server, wire]) await new Promise<void>((resolve) => each.listen(0, "127.0.0.1", resolve));
  channel = new Channel(`127.0.0.1:${portOf(wire)}`, undefined, timers);
  await channel.unary("/x/Y", Buffer.alloc(0), {}).answer;
});
afterEach(async () => {
  channel.destroy();
  process.off("warning", noteWarning);
  for (const socket of sockets) socket.destroy();
  for (const each of [wire, server]) await new Promise((resolve) => each.close(resolve));
});

/** A call follows a ping on the same connection: its response proves that the ping was received. */
const answered = (): Promise<Buffer> => channel.unary("/x/Y", Buffer.alloc(0), {}).answer;

test("repeated checks of a connection do not leak listeners", async () => {
  for (let check = 1; check <= 40; check += 1) {
    channel.check();
    await answered();
    expect(pings).toBe(check);
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(warnings).toEqual([]);
});

test("concurrent checks share one ping", async () => {
  for (let check = 0; check < 200; check += 1) channel.check();
  await answered();
  expect(pings).toBe(1);
  expect(warnings).toEqual([]);
});

test("completes many concurrent large calls", async () => {
  const large = Buffer.alloc(200_000);
  const answers = Array.from({ length: 80 }, () => channel.unary("/x/Y", large, {}).answer.then(String));
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["pong"]));
});

test("closing a connection while it connects fails its calls only", async () => {
  const uncaught: unknown[] = [];
  const note = (error: Error): number => uncaught.push(error.message);
  process.on("uncaughtException", note);
  for (let turns = 0; turns < 12; turns += 1) {
    for (const giveUp of ["check", "destroy"] as const) {
      const slow = new Channel(`127.0.0.1:${portOf(wire)}`, undefined, timers);
      const answer = slow.unary("/x/Y", Buffer.alloc(0), {}).answer.catch(() => undefined);
      for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      slow[giveUp]();
      // A check does not affect a connection that is established by then.
      await answer;
      slow.destroy();
    }
  }
  await answered();
  process.off("uncaughtException", note);
  expect(uncaught).toEqual([]);
});

test("disconnects from a peer without ping response and reconnects on the next call", async () => {
  for (const socket of sockets) socket.unpipe();
  channel.check();
  await time.advance(4_000);
  await answered();
  expect(sessions).toHaveLength(2);
});
