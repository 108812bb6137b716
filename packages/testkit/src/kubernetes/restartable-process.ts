import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, untilReady, type RunningProcess } from "@oaas/real-components";

/** A cluster process that can be killed, restarted, frozen and thawed. */
export interface RestartableProcess {
  /** Crashes it with SIGKILL. */
  kill(): Promise<void>;
  /** Restarts it with the same arguments, port and data, and waits until it serves. */
  start(): Promise<void>;
  /** Pauses the process: connections stay open and requests hang. */
  freeze(): void;
  thaw(): void;
}

/** Wraps a running process; `isReady` checks whether it serves. */
export function createRestartableProcess(
  first: RunningProcess,
  folder: string,
  isReady: () => Promise<boolean>,
): RestartableProcess {
  const [command = "", ...args] = readFileSync(`/proc/${first.pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  const { name } = first;
  let running = first;
  return {
    kill: async () => void (await running.stop(0)),
    start: async () => {
      if (running.exit === undefined) return;
      running = await startProcess({ name, command, args, cwd: folder, logFile: join(folder, `${name}-again.log`) });
      await untilReady(running, isReady);
    },
    freeze: () => running.freeze(),
    thaw: () => running.signal("SIGCONT"),
  };
}
