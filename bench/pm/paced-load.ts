import { median } from "../kube/run-client-program.ts";
import type { Helper } from "./helper.ts";
import type { Load, LoadResult } from "./loader.ts";

export interface PacedLoad {
  readonly port: number;
  /** Sent in turn: repeat a request to give it more weight. */
  readonly requests: readonly string[];
  readonly perSecond: number;
  readonly rounds: number;
  readonly roundMs: number;
}

const CONNECTIONS = 32;

/** Latency at a fixed request rate, as the medians of several rounds after a warm-up round. */
export async function measurePaced(
  loader: Helper,
  paced: PacedLoad,
): Promise<{ readonly p50Ms: number; readonly p99Ms: number }> {
  const { port, requests, perSecond, rounds, roundMs } = paced;
  const load: Load = { port, requests, perSecond, connections: CONNECTIONS, durationMs: roundMs };
  const results: LoadResult[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const loaded = await loader.request<LoadResult>(load);
    if (loaded.failed > 0) throw new Error(`${loaded.failed} of ${loaded.responses} requests failed`);
    if (round > 0) results.push(loaded);
  }
  return { p50Ms: median(results.map(({ p50Ms }) => p50Ms)), p99Ms: median(results.map(({ p99Ms }) => p99Ms)) };
}
