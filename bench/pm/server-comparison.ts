import type { Measurement } from "../harness.ts";
import { inTurn, median } from "../kube/run-client-program.ts";
import type { Constant } from "./constant-server.ts";
import { startHelper, type Helper } from "./helper.ts";
import type { Load, LoadResult } from "./loader.ts";
import type { MeasuredPm } from "./measured-pm.ts";

/** A server under load, with its CPU time. */
export interface ComparedServer {
  readonly name: string;
  readonly port: number;
  readonly request: string;
  cpuMs(): Promise<number>;
}

/** The result of one server: medians over the rounds. */
export interface ServerResult {
  readonly name: string;
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly cpuMicros: number;
  /** CPU time of the client per request. */
  readonly clientMicros: number;
  /** Requests per second of another server, by default the first one, divided by this one's in the same round. */
  share(of?: ServerResult): number;
  /** The same by CPU time per request, which other processes affect less. */
  cpuShare(): number;
  /** Requests per second, round by round. */
  readonly rates: readonly number[];
}

export interface ComparisonOptions {
  readonly rounds: number;
  readonly roundMs: number;
  readonly connections: number;
  /**
   * Rounds that do not count, until the JIT has compiled the code. The package manager has more of it than a bare
   * server, and a busy machine needs more rounds.
   */
  readonly warmUp?: { readonly rounds: number; readonly responses: number; readonly maxRounds: number };
}

const WARM_UP = { rounds: 3, responses: 20_000, maxRounds: 10 };

/** Puts the same load on each server in turn. Results are relative to the first one. */
export async function compareServers(
  loader: Helper,
  servers: readonly ComparedServer[],
  { rounds, roundMs, connections, warmUp = WARM_UP }: ComparisonOptions,
): Promise<readonly ServerResult[]> {
  const results = new Map<string, (LoadResult & { readonly cpuMicros: number })[]>(
    servers.map(({ name }) => [name, []]),
  );
  const measure = async (server: ComparedServer): Promise<LoadResult & { readonly cpuMicros: number }> => {
    const before = await server.cpuMs();
    const load: Load = { port: server.port, requests: [server.request], connections, durationMs: roundMs };
    const loaded = await loader.request<LoadResult>(load);
    const cpuMicros = ((await server.cpuMs()) - before) * (1000 / loaded.responses);
    if (loaded.failed > 0) throw new Error(`${server.name}: ${loaded.failed} of ${loaded.responses} requests failed`);
    return { ...loaded, cpuMicros };
  };
  for (const server of servers) {
    let responses = 0;
    for (let round = 0; round < warmUp.maxRounds; round += 1) {
      if (round >= warmUp.rounds && responses >= warmUp.responses) break;
      responses += (await measure(server)).responses;
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const server of inTurn(servers, round)) results.get(server.name)?.push(await measure(server));
  }
  const first = results.get(servers[0]?.name ?? "") ?? [];
  return [...results].map(([name, all]) => ({
    name,
    perSecond: median(all.map(({ perSecond }) => perSecond)),
    p99Ms: median(all.map(({ p99Ms }) => p99Ms)),
    cpuMicros: median(all.map(({ cpuMicros }) => cpuMicros)),
    clientMicros: median(all.map(({ clientMicros }) => clientMicros)),
    share: (of) =>
      median(
        all.map(({ perSecond }, round) => (of?.rates[round] ?? first[round]?.perSecond ?? Number.NaN) / perSecond),
      ),
    cpuShare: () => median(all.map(({ cpuMicros }, round) => cpuMicros / (first[round]?.cpuMicros ?? Number.NaN))),
    rates: all.map(({ perSecond }) => perSecond),
  }));
}

/** The results as measurements of a report. */
export function measurementsOf(what: string, results: readonly ServerResult[]): Measurement[] {
  return results.flatMap(({ name, perSecond, p99Ms, cpuMicros }): Measurement[] => [
    {
      name: `${what}, ${name}`,
      value: perSecond,
      unit: "req/s",
      note: `p99 ${p99Ms.toFixed(2)} ms, CPU ${cpuMicros.toFixed(0)} µs each`,
    },
  ]);
}

/** A running package manager. */
export function packageManagerServer(pm: MeasuredPm, request: string, name = "package manager"): ComparedServer {
  return { name, port: pm.port, request, cpuMs: async () => (await pm.figures()).cpuMs };
}

/** The package manager, and two bare servers that return its response to this request for every request. */
export async function withConstants(
  pm: MeasuredPm,
  request: string,
  constants: Helper,
): Promise<readonly ComparedServer[]> {
  const [head = "", body = ""] = request.replaceAll("########", "00000000").replaceAll("@@", "00").split("\r\n\r\n");
  const [method = "", path = ""] = head.split(" ");
  const response = await pm.call(method, path, {
    ...(body === "" ? {} : { raw: body }),
    headers: { "content-type": "application/json", "accept-encoding": "identity" },
  });
  if (response.status > 299) throw new Error(`${method} ${path}: ${response.text}`);
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
  );
  const cpuMs = (): Promise<number> => constants.request<number>({});
  const constant = async (by: Constant["by"]): Promise<ComparedServer> => {
    const constantResponse: Constant = { by, status: response.status, headers, body: response.text };
    return { name: by, port: await constants.request<number>(constantResponse), request, cpuMs };
  };
  return [packageManagerServer(pm, request), await constant("node:http"), await constant("fastify")];
}

/** An HTTP/1.1 request as text. */
export function requestText(method: string, path: string, body = ""): string {
  const content = body === "" ? "" : `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
  return `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\n${content}\r\n${body}`;
}

/** The load generator and the bare servers, which every comparison needs. */
export function startLoadTools(): AsyncDisposable & { readonly loader: Helper; readonly constants: Helper } {
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
