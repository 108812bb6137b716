import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startProcess, untilReady, type RunningProcess } from "@oaas/real-components";

/** A process of a cluster that can be killed, started again as it was, frozen and thawed. */
export interface MortalProcess {
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with the very arguments it had, on the same port and data; it serves when this returns. */
  start(): Promise<void>;
  /** Stops its clock: connections stay open and nothing answers. */
  freeze(): void;
  thaw(): void;
}

/** Makes a running process mortal; `isReady` tells whether it serves. */
export function mortalProcess(first: RunningProcess, folder: string, isReady: () => Promise<boolean>): MortalProcess {
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
