import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import type { LoadCurve } from "@oaas/nfr/simulation";
import type { MetricsSource } from "./competitors/metrics-source.ts";
import type { Row } from "./league.ts";

/** Runs all competitors on all traces, with a worker per core. The rows are in the order of the traces. */
export async function runTraces(
  curves: readonly LoadCurve[],
  metrics: MetricsSource,
  onProgress: (done: number) => void,
): Promise<readonly Row[]> {
  const rows: (readonly Row[])[] = [];
  let next = 0;
  let done = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(new URL("trace-worker.ts", import.meta.url));
    try {
      while (next < curves.length) {
        const at = next;
        next += 1;
        rows[at] = await ask(worker, { curve: curves[at], metrics });
        done += 1;
        onProgress(done);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(curves.length, availableParallelism()) }, work));
  return rows.flat();
}

async function ask(worker: Worker, task: object): Promise<readonly Row[]> {
  const answer = once(worker, "message") as Promise<[readonly Row[]]>;
  worker.postMessage(task, []);
  const [rows] = await answer;
  return rows;
}
