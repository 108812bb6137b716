/**
 * A load generator with many connections, in its own process. Each connection sends its next request after the complete response to the
 * one before.
 */
import { createConnection, type Socket } from "node:net";
import { cpuMillis } from "../kube/programs/process-figures.ts";
import { serveRequests } from "./helper.ts";

export interface Load {
  readonly port: number;
  /**
   * Complete HTTP/1.1 requests, sent in turn. Each `########` becomes a number of that width that is different every time, each `@@` the
   * number of the connection.
   */
  readonly requests: readonly string[];
  readonly connections: number;
  readonly durationMs: number;
  /** Requests per second in all. Latency counts from the time a request is due. Without it: as fast as possible. */
  readonly perSecond?: number;
}

export interface LoadResult {
  readonly responses: number;
  /** Responses with another status than 2xx. */
  readonly failed: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU time of the client per response: on a small machine the client takes its share. */
  readonly clientMicros: number;
}

const NUMBER = "########";
const CONNECTION = "@@";
let last = 0;

async function load({ port, requests, connections, durationMs, perSecond }: Load): Promise<LoadResult> {
  const tookMs: number[] = [];
  let failed = 0;
  let sent = 0;
  const start = performance.now();
  const cpuBefore = cpuMillis();
  const until = start + durationMs;
  const dueAt = (nth: number): number =>
    perSecond === undefined ? performance.now() : start + (nth * 1000) / perSecond;
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = await connect(port);
      const texts = requests.map((request) => writer(request, index));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let due = 0;
      const sendNext = (): void => {
        const nth = sent;
        due = dueAt(nth);
        if (due >= until) return resolve();
        sent += 1;
        const write = (): void => {
          // Timers may fire early by a fraction of a millisecond.
          due = Math.min(due, performance.now());
          socket.write(texts[nth % texts.length]?.() ?? "");
        };
        const waitMs = due - performance.now();
        if (waitMs > 0) setTimeout(write, waitMs);
        else write();
        return undefined;
      };
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed a connection")));
      onResponses(socket, (status) => {
        tookMs.push(performance.now() - due);
        if (status < 200 || status > 299) failed += 1;
        sendNext();
      });
      sendNext();
      await promise.finally(() => socket.destroy());
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(share * (tookMs.length - 1))] ?? Number.NaN;
  return {
    responses: tookMs.length,
    failed,
    perSecond: tookMs.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    clientMicros: ((cpuMillis() - cpuBefore) * 1000) / tookMs.length,
  };
}

function writer(request: string, connection: number): () => Buffer {
  const text = request.replaceAll(CONNECTION, String(connection).padStart(CONNECTION.length, "0"));
  const parts = text.split(NUMBER);
  const fixed = Buffer.from(text);
  return () => (parts.length === 1 ? fixed : Buffer.from(parts.join(String((last += 1)).padStart(NUMBER.length, "0"))));
}

function connect(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Calls back with the status when a response with a content length is complete. */
function onResponses(socket: Socket, onResponse: (status: number) => void): void {
  let head = "";
  let missing = 0;
  let status = 0;
  socket.on("data", (chunk) => {
    if (missing > 0) missing -= chunk.length;
    else {
      head += chunk.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      if (end === -1) return;
      status = Number(head.slice(9, 12));
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head.slice(0, end + 2))?.[1] ?? 0);
      missing = end + 4 + length - head.length;
      head = "";
    }
    if (missing === 0) onResponse(status);
    else if (missing < 0) socket.destroy(new Error("more than one response to one request"));
  });
}

serveRequests(load);
