import type { Measurement } from "../harness.ts";
import { inTurn, median } from "../kube/run-contender.ts";
import type { Constant } from "./constant-server.ts";
import { startHelper, type Helper } from "./helper.ts";
import type { Load, Loaded } from "./loader.ts";
import type { MeasuredPm } from "./measured-pm.ts";

/** A server under load, and how to learn its processor time. */
export interface Contender {
  readonly name: string;
  readonly port: number;
  readonly request: string;
  cpuMs(): Promise<number>;
}

/** What one server did, as medians over the rounds. */
export interface Standing {
  readonly name: string;
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  /** Of the client that asked. */
  readonly clientMicros: number;
  /** Requests per second of another server, by default ours, divided by this one's in the same round. */
  share(of?: Standing): number;
  /** Ours by processor time per request, which a busy machine disturbs less. */
  processorShare(): number;
  /** Requests per second, round by round. */
  readonly rates: readonly number[];
}

export interface ContestOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly connections: number;
  /**
   * Rounds that do not count: code is compiled while it runs, and ours is more of it. On a busy machine it takes more
   * rounds until all of it is.
   */
  readonly warmUp?: { readonly rounds: number; readonly answers: number; readonly mostRounds: number };
}

const WARM_UP = { rounds: 3, answers: 20_000, mostRounds: 10 };

/** Puts the same load on each server by turns. The first one is ours. */
export async function contest(
  loader: Helper,
  contenders: readonly Contender[],
  { rounds, roundMs, connections, warmUp = WARM_UP }: ContestOptions,
): Promise<readonly Standing[]> {
  const results = new Map<string, (Loaded & { readonly cpuMicros: number })[]>(
    contenders.map(({ name }) => [name, []]),
  );
  const ask = async (contender: Contender): Promise<Loaded & { readonly cpuMicros: number }> => {
    const before = await contender.cpuMs();
    const load: Load = { port: contender.port, requests: [contender.request], connections, durationMs: roundMs };
    const loaded = await loader.ask<Loaded>(load);
    const cpuMicros = ((await contender.cpuMs()) - before) * (1000 / loaded.answers);
    if (loaded.refused > 0) throw new Error(`${contender.name} refused ${loaded.refused} of ${loaded.answers}`);
    return { ...loaded, cpuMicros };
  };
  for (const contender of contenders) {
    let answers = 0;
    for (let round = 0; round < warmUp.mostRounds; round += 1) {
      if (round >= warmUp.rounds && answers >= warmUp.answers) break;
      answers += (await ask(contender)).answers;
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of inTurn(contenders, round)) results.get(contender.name)?.push(await ask(contender));
  }
  const ours = results.get(contenders[0]?.name ?? "") ?? [];
  return [...results].map(([name, all]) => ({
    name,
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
    cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
    clientMicros: median(all.map(({ clientMicros }) => clientMicros)),
    share: (of) =>
      median(all.map(({ perSecond }, round) => (of?.rates[round] ?? ours[round]?.perSecond ?? Number.NaN) / perSecond)),
    processorShare: () => median(all.map(({ cpuMicros }, round) => cpuMicros / (ours[round]?.cpuMicros ?? Number.NaN))),
    rates: all.map(({ perSecond }) => perSecond),
  }));
}

/** For reading. */
export function measurementsOf(what: string, standings: readonly Standing[]): Measurement[] {
  return standings.flatMap(({ name, perSecond, p99Ms, cpuMicros }): Measurement[] => [
    {
      name: `${what}, ${name}`,
      value: perSecond,
      unit: "req/s",
      note: `p99 ${p99Ms.toFixed(2)} ms, processor ${cpuMicros.toFixed(0)} µs each`,
    },
  ]);
}

/** Ours. */
export function oursOf(pm: MeasuredPm, request: string, name = "ours"): Contender {
  return { name, port: pm.port, request, cpuMs: async () => (await pm.figures()).cpuMs };
}

/** Ours, and the two servers that answer any request with the very answer that ours gave to this one. */
export async function withConstants(pm: MeasuredPm, request: string, constants: Helper): Promise<readonly Contender[]> {
  const [head = "", body = ""] = request.replaceAll("########", "00000000").replaceAll("@@", "00").split("\r\n\r\n");
  const [method = "", path = ""] = head.split(" ");
  const answer = await pm.call(method, path, {
    ...(body === "" ? {} : { raw: body }),
    headers: { "content-type": "application/json", "accept-encoding": "identity" },
  });
  if (answer.status > 299) throw new Error(`${method} ${path}: ${answer.text}`);
  const headers = Object.fromEntries(
    [...answer.headers].filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
  );
  const cpuMs = (): Promise<number> => constants.ask<number>({});
  const constant = async (by: Constant["by"]): Promise<Contender> => {
    const asked: Constant = { by, status: answer.status, headers, body: answer.text };
    return { name: by, port: await constants.ask<number>(asked), request, cpuMs };
  };
  return [oursOf(pm, request), await constant("node:http"), await constant("fastify")];
}

/** A request as it goes over the wire. */
export function requestText(method: string, path: string, body = ""): string {
  const content = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n${content}\r\n${body}`;
}

/** The two programs that every contest needs. */
export function startArena(): AsyncDisposable & { readonly loader: Helper; readonly constants: Helper } {
  const loader = startHelper("loader.ts");
  const constants = startHelper("constant-server.ts");
  return {
    loader,
    constants,
    [Symbol.asyncDispose]: async () => {
      await loader[Symbol.asyncDispose]();
      await constants[Symbol.asyncDispose]();
    },
  };
}
