/**
 * The warden: a process in a session of its own that starts real components for one other process, its owner, and outlives
 * it just long enough to clean up.
 *
 *   owner ──IPC──▶ warden ──spawn──▶ etcd, kube-apiserver, … (each the leader of its own process group)
 *     ╳ dies, however └─ channel closes: SIGKILL to every group, folders removed, exit
 *
 * A second guard, in tests, is the parent of the owner (the test runner): its workers may hang when it is killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processIdentity } from "./process-identity.ts";
import { killGroup, register } from "./register.ts";
import type { StartRequest, WardenReply, WardenRequest } from "./warden-protocol.ts";

const GUARD_INTERVAL_MS = 500;
const children = new Map<number, ChildProcess>();
const folders = new Set<string>();
let leaving = false;

function tell(reply: WardenReply): void {
  if (process.connected) process.send?.(reply, () => undefined);
}

function start(id: number, request: StartRequest): void {
  const log = openSync(request.logFile, "a");
  try {
    const child = spawn(request.command, request.args, {
      cwd: request.cwd,
      env: request.env,
      detached: true,
      stdio: ["ignore", log, log],
    });
    const { pid } = child;
    child.on("error", (error) => {
      if (pid === undefined) tell({ tell: "failed", id, reason: error.message });
    });
    if (pid === undefined) return;
    children.set(pid, child);
    if (request.register !== undefined) register(request.register, pid);
    child.on("exit", (code, signal) => {
      children.delete(pid);
      tell({ tell: "exited", pid, exit: { code, signal } });
    });
    tell({ tell: "done", id, pid });
  } finally {
    closeSync(log);
  }
}

/** Made here and not by the owner, so that there is no moment at which nobody would remove it. */
function makeFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), `oaas-${prefix}-`));
  folders.add(folder);
  return folder;
}

function answer(request: WardenRequest): void {
  try {
    const { id } = request;
    if (request.ask === "start") return start(id, request.start);
    if (request.ask === "make-folder") return tell({ tell: "done", id, folder: makeFolder(request.prefix) });
    folders.delete(request.folder);
    tell({ tell: "done", id });
  } catch (error) {
    tell({ tell: "failed", id: request.id, reason: String(error) });
  }
}

/** Guarantees: when this process ends, no group it started lives and no folder it watched is left. */
async function leave(): Promise<void> {
  if (leaving) return;
  leaving = true;
  const gone = [...children.values()].map((child) => new Promise((resolve) => child.once("exit", resolve)));
  for (const pid of children.keys()) killGroup(pid);
  await Promise.all(gone);
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  process.exit(0);
}

const [guardPid] = process.argv.slice(2).map(Number);
if (guardPid !== undefined && guardPid > 1) {
  const identity = processIdentity(guardPid);
  setInterval(() => {
    if (processIdentity(guardPid) !== identity) void leave();
  }, GUARD_INTERVAL_MS);
}
process.on("message", (request: WardenRequest) => answer(request));
process.on("disconnect", () => void leave());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void leave());
