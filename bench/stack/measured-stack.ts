import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { STACK_NODE_FLAGS } from "@oaas/stack-folder";

const MAIN = path.resolve(import.meta.dirname, "..", "..", "apps", "dev-stack", "src", "main.ts");
const COMPILED = path.resolve(import.meta.dirname, "..", "..", "node_modules", ".cache", "node");

/** What the stack says its process takes. */
export interface StackFigures {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** The local stack as `npm start` runs it, in a process of its own. */
export interface MeasuredStack {
  /** Of the package manager. */
  readonly url: string;
  /** From the command to the line that says ready. */
  readonly readyMs: number;
  /** Processor time until then. */
  readonly readyCpuMs: number;
  figures(): Promise<StackFigures>;
  /** Repeatable. */
  stop(): Promise<void>;
}

/** Starts it on a data folder, on free ports, with what was compiled before kept as `npm start` keeps it. */
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
    const said = JSON.parse(line) as { readonly status: string; readonly url: string; readonly page_url: string };
    if (said.status !== "ready") continue;
    const readyMs = performance.now() - begun;
    child.stdout.resume();
    const figures = async (): Promise<StackFigures> => {
      // Asks of the process alone: looking at everything would be work of its own.
      const answer = await fetch(`${said.page_url}/healthz`);
      const { process: told } = (await answer.json()) as { process: { rss_bytes: number; cpu_ms: number } };
      return { rssBytes: told.rss_bytes, cpuMs: told.cpu_ms };
    };
    return {
      url: said.url,
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
