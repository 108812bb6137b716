import cluster, { type Worker } from "node:cluster";
import type { Timers } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";

/** A worker that ends by itself is started again after this long. */
const RESTART_MS = 1_000;

/** Whether this process is to start workers rather than to serve. */
export function shouldSupervise(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/** Starts processes that share the ports, and starts one again that ends. */
export function startWorkers(count: number, timers: Timers, logger: Logger): { close(): Promise<void> } {
  const running = new Set<Worker>();
  let stopping = false;
  const begin = (): void => {
    if (stopping) return;
    const worker = cluster.fork();
    running.add(worker);
    logger.info("a worker was started", { worker: worker.id, pid: worker.process.pid });
    worker.once("exit", (code, signal) => {
      running.delete(worker);
      if (stopping) return;
      logger.error("a worker ended and is started again", { worker: worker.id, code, signal });
      timers.after(RESTART_MS, begin);
    });
  };
  for (let index = 0; index < count; index += 1) begin();
  return {
    close: async () => {
      stopping = true;
      await Promise.all(
        [...running].map(async (worker) => {
          const ended = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
          worker.process.kill("SIGTERM");
          await ended;
        }),
      );
    },
  };
}
