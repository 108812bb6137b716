/**
 * A client of many connections in a process of its own: each sends its next request when it has the whole answer to the
 * one before.
 */
import { createConnection, type Socket } from "node:net";
import { cpuMillis } from "../kube/programs/process-figures.ts";
import { answerQuestions } from "./helper.ts";

/** What to send, to whom, how long. */
export interface Load {
  readonly port: number;
  /**
   * A whole request of HTTP/1.1; each `########` in it becomes another number of that width every time, each `@@` the
   * connection's.
   */
  readonly request: string;
  readonly connections: number;
  readonly durationMs: number;
}

/** What came of it. */
export interface Loaded {
  readonly answers: number;
  /** Answers with another status than 2xx. */
  readonly refused: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Processor time of the client itself for each answer: on a small machine it takes its share of what is measured. */
  readonly clientMicros: number;
}

const NUMBER = "########";
const CONNECTION = "@@";
let last = 0;

async function load({ port, request, connections, durationMs }: Load): Promise<Loaded> {
  const tookMs: number[] = [];
  let refused = 0;
  const start = performance.now();
  const cpuBefore = cpuMillis();
  const until = start + durationMs;
  await Promise.all(
    Array.from({ length: connections }, async (_, index) => {
      const socket = await connected(port);
      const next = requests(request.replaceAll(CONNECTION, String(index).padStart(CONNECTION.length, "0")));
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      let sentAt = 0;
      const send = (): void => {
        sentAt = performance.now();
        if (sentAt >= until) resolve();
        else socket.write(next());
      };
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("the server closed a connection")));
      onAnswers(socket, (status) => {
        tookMs.push(performance.now() - sentAt);
        if (status < 200 || status > 299) refused += 1;
        send();
      });
      send();
      await promise.finally(() => socket.destroy());
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  tookMs.sort((a, b) => a - b);
  const at = (share: number): number => tookMs[Math.floor(share * (tookMs.length - 1))] ?? Number.NaN;
  return {
    answers: tookMs.length,
    refused,
    perSecond: tookMs.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    clientMicros: ((cpuMillis() - cpuBefore) * 1000) / tookMs.length,
  };
}

function requests(request: string): () => Buffer {
  const parts = request.split(NUMBER);
  const fixed = Buffer.from(request);
  return () => (parts.length === 1 ? fixed : Buffer.from(parts.join(String((last += 1)).padStart(NUMBER.length, "0"))));
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Calls back with the status when a response with a content length is complete. */
function onAnswers(socket: Socket, answered: (status: number) => void): void {
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
    if (missing === 0) answered(status);
    else if (missing < 0) socket.destroy(new Error("more than one answer to one request"));
  });
}

answerQuestions(load);
