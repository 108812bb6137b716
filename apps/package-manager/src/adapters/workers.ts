import cluster from "node:cluster";
import { once } from "node:events";
import type { WorkerProcess } from "../supervisor.ts";

/** Whether this process is to start workers rather than to serve. */
export function shouldSupervise(workers: number): boolean {
  return workers > 1 && cluster.isPrimary;
}

/** Begins a process that runs the same program and shares its ports with the others. */
export function beginWorker(): WorkerProcess {
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
