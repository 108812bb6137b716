import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { processesWith, startKubernetes } from "@oaas/testkit";

/** An API server under measurement. */
export interface MeasuredServer extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly token: string;
  readonly ca: string;
  /** Resident memory of all processes. */
  memoryBytes(): number;
  /** Undefined if the start is not comparable. */
  readonly readyMs?: number;
}

/** The real kube-apiserver with an etcd without fsync. */
export async function realServer(): Promise<MeasuredServer> {
  const cluster = await startKubernetes();
  const folder = cluster.caFile.slice(0, cluster.caFile.lastIndexOf("/"));
  const pids = processesWith(folder).filter((pid) => pid !== process.pid);
  return {
    name: "kube-apiserver with etcd",
    url: cluster.url,
    token: cluster.token,
    ca: readFileSync(cluster.caFile, "utf8"),
    memoryBytes: () => pids.reduce((sum, pid) => sum + residentBytes(pid), 0),
    [Symbol.asyncDispose]: () => cluster.close(),
  };
}

interface ReadyLine {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
  readonly readyMs: number;
}

/** The embedded server in its own process. */
export async function embeddedServerProcess(): Promise<MeasuredServer> {
  const program = join(import.meta.dirname, "embedded-program.ts");
  const child = spawn(process.execPath, ["--expose-gc", program], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const line = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (line.done) throw new Error("the embedded server ended before it was ready");
  const ready = JSON.parse(line.value) as ReadyLine;
  return {
    name: "embedded",
    ...ready,
    memoryBytes: () => residentBytes(child.pid ?? 0),
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

export function residentBytes(pid: number): number {
  try {
    const [, kilobytes = "0"] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    // A helper process of the start that has ended.
    return 0;
  }
}
