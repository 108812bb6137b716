import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { eventually, makeRunFolder, processesWith } from "@oaas/testkit";
import { ROOT } from "../tools/tasks/root.ts";
import type { Bench } from "./harness.ts";

const STARTS = 3;
const BUDGET_MS = 10_000;

/** The first start: `npm start` in a fresh clone without installed packages, and a second start. */
export const bench: Bench = {
  name: "stack-install",
  async run(log) {
    const folder = await makeRunFolder("stack-install");
    const clone = path.join(folder.path, "clone");
    try {
      execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${ROOT}`, clone]);
      const cold = await untilReady(clone);
      log(
        `fresh clone to ready: ${Math.round(cold.readyMs)} ms, of which ${Math.round(cold.installMs)} ms until its first word`,
      );
      const again: number[] = [];
      for (let count = 0; count < STARTS; count += 1) again.push((await untilReady(clone)).readyMs);
      const warmMs = again.toSorted((a, b) => a - b)[STARTS >> 1] ?? Number.NaN;
      return {
        title: "npm start in a fresh clone, and again",
        measurements: [
          {
            name: "npm start to ready, nothing installed",
            value: cold.readyMs,
            unit: "ms",
            note: "packages from npm's cache where it has them",
          },
          { name: "of which until the first output of the stack", value: cold.installMs, unit: "ms" },
          { name: "npm start to ready, installed", value: warmMs, unit: "ms", note: `median of ${STARTS}` },
        ],
        ratios: [
          {
            name: "ready in time, by npm",
            value: BUDGET_MS / warmMs,
            floor: 1,
            explains: "10 s over the time from npm start to ready when installed",
          },
        ],
      };
    } finally {
      for (const pid of processesWith(clone)) process.kill(pid, "SIGKILL");
      await folder.remove();
    }
  },
};

/** Runs `npm start` until it is ready, stops it, and returns both times. */
async function untilReady(clone: string): Promise<{ readonly installMs: number; readonly readyMs: number }> {
  const begun = performance.now();
  const child = spawn("npm", ["--silent", "start", "--", "--ports=0", "--data=data", "--output=json"], {
    cwd: clone,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", npm_config_prefer_offline: "true" },
  });
  let installMs: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    installMs ??= performance.now() - begun;
    if (!line.startsWith('{"status":"ready"')) continue;
    const readyMs = performance.now() - begun;
    child.stdout.resume();
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    await eventually(() => processesWith(clone).length === 0, { what: "the stack to end" });
    return { installMs, readyMs };
  }
  throw new Error("npm start ended before the stack was ready");
}
