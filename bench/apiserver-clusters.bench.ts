import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { residentBytes } from "./apiserver/targets.ts";
import type { Bench } from "./harness.ts";

const MOST_MB = 300;
const REST_MS = 60_000;

/** Memory of three embedded clusters with a class runtime manager each, as in `npm start`. Linux only (`/proc`). */
export const bench: Bench = {
  name: "apiserver-clusters",
  async run(log) {
    const program = join(import.meta.dirname, "apiserver", "clusters-program.ts");
    const child = spawn(process.execPath, [...STACK_NODE_FLAGS, program], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const hear = async <T>(): Promise<T> => {
      const line = await lines.next();
      if (line.done) throw new Error("the clusters ended before they were ready");
      return JSON.parse(line.value) as T;
    };
    const residentMb = (): number => residentBytes(child.pid ?? 0) / 1e6;
    try {
      const { readyMs } = await hear<{ readonly readyMs: number }>();
      const { availableMs } = await hear<{ readonly availableMs: number }>();
      const busy = residentMb();
      log(`the class is available in each: ${busy.toFixed(0)} MB; now nothing is done for ${REST_MS / 1000} s`);
      await sleep(REST_MS);
      const rested = residentMb();
      return {
        title: "Three embedded clusters with a class runtime manager each, in one process (the example class in each)",
        measurements: [
          {
            name: "resident, the class just available",
            value: busy,
            unit: "MB",
            note: "10⁶ bytes, mapped files included",
          },
          { name: `resident, ${REST_MS / 1000} s later`, value: rested, unit: "MB" },
          { name: "start to three APIs", value: readyMs, unit: "ms", note: "durable, modules loaded" },
          { name: "start to the class available in each", value: availableMs, unit: "ms" },
        ],
        ratios: [
          {
            name: "memory budget / resident",
            value: MOST_MB / Math.max(busy, rested),
            floor: 1,
            explains: `at most ${MOST_MB} MB for all three, the greater of both samples`,
          },
        ],
      };
    } finally {
      child.stdin.end();
      await ended;
    }
  },
};
