import cluster from "node:cluster";
import { once } from "node:events";
import type { WorkerProcess } from "../supervisor.ts";

/** Whether this process starts workers instead of serving. */
export function shouldSupervise(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/** Starts a process that runs the same program and shares the ports. */
export function startWorker(): WorkerProcess {
  const worker = cluster.fork();
  const { pid } = worker.process;
  return {
    id: worker.id,
    pid,
    listening: new Promise((resolve) => worker.once("listening", () => resolve())),
    ended: once(worker, "exit").then(([code, signal]) =>
      signal === null ? `exit code ${String(code)}` : String(signal),
    ),
    stop: () => void worker.process.kill("SIGTERM"),
  };
}
