import { fork, type ChildProcess } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ask, type Answer, type CallOptions } from "../../apps/package-manager/test/running-pm.ts";
import { asking, ended } from "./helper.ts";
import type { ProcessFigures } from "./probe.ts";

const MAIN = path.resolve(import.meta.dirname, "..", "..", "apps", "package-manager", "src", "main.ts");
const PROBE = fileURLToPath(import.meta.resolve("./probe.ts"));
const START_MS = 120_000;

/** The package manager as an operator runs it, in a process of its own. */
export interface MeasuredPm extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Of the process that was started; of all its workers nothing. */
  figures(options?: { readonly heap: boolean }): Promise<ProcessFigures>;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

export interface MeasuredPmOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** By name. */
  readonly clusters?: Readonly<Record<string, string>>;
  readonly workers?: number;
  /** Another program than `main.ts`. */
  readonly program?: string;
}

/** Starts it on a free port of loopback; it listens, with all its workers, when this returns. */
export async function startMeasuredPm(options: MeasuredPmOptions = {}): Promise<MeasuredPm> {
  const { clusters = {}, workers = 1, program = MAIN } = options;
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
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const port = await listening(child, workers);
  const url = `http://127.0.0.1:${port}`;
  const asked = asking(child);
  return {
    url,
    port,
    figures: ({ heap } = { heap: false }) => asked<ProcessFigures>({ heap }),
    call: (method, at, how) => ask(url, method, at, how),
    [Symbol.asyncDispose]: () => ended(child, "SIGTERM"),
  };
}

/** `OAAS_BENCH_PROFILE=<folder>` has it write a processor profile there when it ends. */
function profiling(): readonly string[] {
  const folder = process.env["OAAS_BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

function listening(child: ChildProcess, workers: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error("the package manager does not listen")), START_MS);
  child.once("exit", (code) => reject(new Error(`the package manager ended with ${code}`)));
  if (child.stdout === null) throw new Error("no output");
  let listens = 0;
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (process.env["OAAS_BENCH_VERBOSE"] && /"level":"(warn|error)"/.test(line)) console.log(line);
    if (!line.includes('"the package manager listens"')) return;
    listens += 1;
    if (listens === workers) resolve((JSON.parse(line) as { readonly port: number }).port);
  });
  return promise.finally(() => clearTimeout(timer));
}
