import { fork, type ChildProcess } from "node:child_process";
import { mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { sendRequest, type Answer, type CallOptions } from "../../apps/package-manager/test/running-pm.ts";
import { requesterOf, ended } from "./helper.ts";
import type { ProcessFigures } from "./probe.ts";

const CHECKOUT = path.resolve(import.meta.dirname, "..", "..");
const PROBE = fileURLToPath(import.meta.resolve("./probe.ts"));
const START_MS = 120_000;

/** The package manager in its own process. */
export interface MeasuredPm extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Of the process that was started; CPU time with that of its workers. */
  figures(options?: { readonly heap: boolean }): Promise<ProcessFigures>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface MeasuredPmOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** By name. */
  readonly clusters?: Readonly<Record<string, string>>;
  readonly workers?: number;
  /** The folder of another checkout. */
  readonly checkout?: string;
  /** Another program than `main.ts`. */
  readonly program?: string;
}

/** Starts it on a free port of loopback; it listens, with all its workers, when this returns. */
export async function startMeasuredPm(options: MeasuredPmOptions = {}): Promise<MeasuredPm> {
  const { clusters = {}, workers = 1, checkout = CHECKOUT } = options;
  const { program = path.join(checkout, "apps", "package-manager", "src", "main.ts") } = options;
  // Into a file, as a service manager has it: a pipe would measure how fast we read it.
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-pm-"));
  const log = path.join(folder, "log");
  const child = fork(program, [], {
    execArgv: ["--expose-gc", "--import", PROBE, ...profiling()],
    env: {
      PATH: process.env["PATH"] ?? "",
      SERVER_PORT: "0",
      SERVER_WORKERS: String(workers),
      SERVER_RATE_LIMIT: "1000000",
      SERVER_RATE_BURST: "1000000",
      CRM_CLUSTERS_JSON: JSON.stringify(
        Object.fromEntries(Object.entries(clusters).map(([name, url]) => [name, { url }])),
      ),
      LOG_LEVEL: "info",
      ...options.env,
    },
    stdio: ["ignore", openSync(log, "w"), "inherit", "ipc"],
  });
  const port = await listening(child, log, workers);
  const url = `http://127.0.0.1:${port}`;
  const request = requesterOf(child);
  return {
    url,
    port,
    figures: async ({ heap } = { heap: false }) => {
      const own = await request<ProcessFigures>({ heap });
      return workers === 1 ? own : { ...own, cpuMs: own.cpuMs + childrenCpuMs(child.pid) };
    },
    call: (method, at, how) => sendRequest(url, method, at, how),
    [Symbol.asyncDispose]: async () => {
      await ended(child, "SIGTERM");
      if (process.env["OAAS_BENCH_VERBOSE"]) console.log(troublesIn(readFileSync(log, "utf8")));
      rmSync(folder, { recursive: true });
    },
  };
}

const TICK_MS = 10;

/**
 * CPU time of the child processes on Linux. Workers cannot be queried, because they share the channel of their
 * supervisor.
 */
function childrenCpuMs(parent: number | undefined): number {
  const statsOf = (pid: string): readonly string[] => {
    try {
      // The name is in parentheses and may contain any character; state, parent and more follow.
      return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    } catch {
      return [];
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statsOf)
    .filter(([, ofParent]) => Number(ofParent) === parent)
    .reduce((sum, stats) => sum + (Number(stats[11]) + Number(stats[12])) * TICK_MS, 0);
}

/** `OAAS_BENCH_PROFILE=<folder>` writes a CPU profile there at exit. */
function profiling(): readonly string[] {
  const folder = process.env["OAAS_BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

/** What it warned of, apart from the audit trail. */
function troublesIn(log: string): string {
  const lines = log.split("\n").filter((line) => /"level":"(warn|error)"/.test(line) && !line.includes('"audit":true'));
  return lines.join("\n");
}

/** Waits until the log shows that all workers listen; returns the port. */
async function listening(child: ChildProcess, log: string, workers: number): Promise<number> {
  const until = performance.now() + START_MS;
  for (;;) {
    const lines = readFileSync(log, "utf8")
      .split("\n")
      .filter((line) => line.includes('"package manager listening"'));
    if (lines.length >= workers) return (JSON.parse(lines[0] as string) as { readonly port: number }).port;
    if (child.exitCode !== null) throw new Error(`the package manager ended with ${child.exitCode}`);
    if (performance.now() > until) throw new Error("the package manager does not listen");
    await setTimeout(20);
  }
}
