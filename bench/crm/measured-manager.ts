import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { DeploymentService } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type RpcClient } from "@oaas/rpc";
import type { ProcessFigures, Question } from "./probe.ts";
import { isWrite } from "./request-name.ts";

const CHECKOUT = path.resolve(import.meta.dirname, "..", "..");
const PROBE = fileURLToPath(import.meta.resolve("./probe.ts"));
const START_MS = 120_000;

/** The class runtime manager in its own process, with a probe that reports its requests and resources. */
export interface MeasuredManager extends AsyncDisposable {
  readonly url: string;
  readonly deployments: RpcClient<typeof DeploymentService>;
  /** Start time of the process, on the wall clock. */
  readonly startedAt: number;
  /** When its caches were synced. */
  readonly readyAt: Promise<number>;
  figures(options?: { readonly heap: boolean }): Promise<ProcessFigures>;
  /** Number of finished reconciles, from its metrics. */
  reconciles(): Promise<number>;
  /** Stops it gracefully or at once. */
  stop(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
}

/** Starts the manager of a checkout on a free port; it listens when this returns. */
export async function startManager(
  kubeconfig: string,
  env: Readonly<Record<string, string>> = {},
  checkout: string = CHECKOUT,
): Promise<MeasuredManager> {
  const startedAt = now();
  const main = path.join(checkout, "apps", "class-runtime-manager", "src", "main.ts");
  const child = fork(main, [], {
    execArgv: ["--expose-gc", "--import", PROBE, ...profiling()],
    env: {
      PATH: process.env["PATH"] ?? "",
      KUBECONFIG: kubeconfig,
      HTTP_PORT: "0",
      OPRC_CRM_HTTP_HOST: "127.0.0.1",
      OPRC_CRM_K8S_NAMESPACE: "*",
      OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1",
      OPRC_CRM_ODGM_HEALTH: "false",
      LOG_LEVEL: "info",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const { port, readyAt } = await listening(child);
  const channel = new RpcChannel({ name: "crm", address: `127.0.0.1:${port}`, clock: realAmbient.clock });
  const stop = async (signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> => {
    channel.close();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    deployments: channel.client(DeploymentService),
    startedAt,
    readyAt,
    figures: asking(child),
    reconciles: async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      const count = /^crm_reconciliation_duration_seconds_count\{[^}]*class-runtime[^}]*\} (\d+)/m.exec(text)?.[1];
      return Number(count ?? 0);
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

/** Requests with certain names between two readings. */
export function requestsBetween(
  before: ProcessFigures | undefined,
  after: ProcessFigures,
  counts: (name: string) => boolean,
): number {
  const total = (figures: ProcessFigures | undefined): number =>
    Object.entries(figures?.requests ?? {}).reduce((sum, [name, { count }]) => sum + (counts(name) ? count : 0), 0);
  return total(after) - total(before);
}

/** Resolves when the manager has sent nothing about classes for a second. */
export async function quiet(manager: MeasuredManager): Promise<ProcessFigures> {
  for (let last = await manager.figures(); ;) {
    await sleep(1_000);
    const next = await manager.figures();
    if (requestsBetween(last, next, (name) => !name.endsWith(" leases")) === 0) return next;
    last = next;
  }
}

/** Whether a request is a write for classes; lease renewals are not. */
export function isClassWrite(name: string): boolean {
  return isWrite(name) && !name.endsWith(" leases");
}

/** The wall clock in fractions of milliseconds, comparable between processes. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** `OAAS_BENCH_PROFILE=<folder>` makes the manager write a CPU profile when it ends. */
function profiling(): readonly string[] {
  const folder = process.env["OAAS_BENCH_PROFILE"];
  return folder === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

function listening(child: ChildProcess): Promise<{ readonly port: number; readonly readyAt: Promise<number> }> {
  const ready = Promise.withResolvers<number>();
  const listens = Promise.withResolvers<number>();
  const timer = setTimeout(() => listens.reject(new Error("the manager does not listen")), START_MS);
  child.once("exit", (code) => listens.reject(new Error(`the manager ended with ${code}`)));
  if (child.stdout === null) throw new Error("no output");
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line.includes('"class runtime manager listening"'))
      listens.resolve((JSON.parse(line) as { readonly port: number }).port);
    else if (line.includes('"class runtime manager ready"')) ready.resolve(now());
    if (process.env["OAAS_BENCH_VERBOSE"] && /"level":"(warn|error)"/.test(line)) console.log(line);
  });
  return listens.promise.finally(() => clearTimeout(timer)).then((port) => ({ port, readyAt: ready.promise }));
}

function asking(child: ChildProcess): MeasuredManager["figures"] {
  let last = 0;
  const waiting = new Map<number, (figures: ProcessFigures) => void>();
  child.on("message", ({ id, figures }: { readonly id: number; readonly figures: ProcessFigures }) => {
    waiting.get(id)?.(figures);
    waiting.delete(id);
  });
  return ({ heap } = { heap: false }) =>
    new Promise((resolve, reject) => {
      const question: Question = { id: (last += 1), heap };
      const onExit = (code: number | null): void => reject(new Error(`the manager ended with ${code}`));
      child.once("exit", onExit);
      waiting.set(question.id, (figures) => {
        child.off("exit", onExit);
        resolve(figures);
      });
      child.send(question, (error) => error && reject(error));
    });
}
