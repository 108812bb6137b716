import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { STACK_NODE_FLAGS } from "@oaas/stack-folder";

const MAIN = path.resolve(import.meta.dirname, "..", "..", "apps", "dev-stack", "src", "main.ts");
const COMPILED = path.resolve(import.meta.dirname, "..", "..", "node_modules", ".cache", "node");

/** Resource usage reported by the stack. */
export interface StackFigures {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** The local stack in its own process, as started by `npm start`. */
export interface MeasuredStack {
  /** URL of the package manager. */
  readonly url: string;
  /** Time from the command to the ready line. */
  readonly readyMs: number;
  /** CPU time until ready. */
  readonly readyCpuMs: number;
  figures(): Promise<StackFigures>;
  /** Idempotent. */
  stop(): Promise<void>;
}

/** Starts it on free ports with the compile cache of `npm start`. */
export async function startMeasuredStack(dataDir: string): Promise<MeasuredStack> {
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    [...STACK_NODE_FLAGS, MAIN, "--ports=0", `--data=${dataDir}`, "--output=json"],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] ?? "", NODE_COMPILE_CACHE: COMPILED },
    },
  );
  for await (const line of createInterface({ input: child.stdout })) {
    const report = JSON.parse(line) as { readonly status: string; readonly url: string; readonly page_url: string };
    if (report.status !== "ready") continue;
    const readyMs = performance.now() - begun;
    child.stdout.resume();
    const figures = async (): Promise<StackFigures> => {
      // Query the process only: the full health check would add load.
      const answer = await fetch(`${report.page_url}/healthz`);
      const { process: usage } = (await answer.json()) as { process: { rss_bytes: number; cpu_ms: number } };
      return { rssBytes: usage.rss_bytes, cpuMs: usage.cpu_ms };
    };
    return {
      url: report.url,
      readyMs,
      readyCpuMs: (await figures()).cpuMs,
      figures,
      stop: async () => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, "exit");
        child.kill("SIGTERM");
        await exited;
      },
    };
  }
  throw new Error("the stack ended before it was ready");
}
