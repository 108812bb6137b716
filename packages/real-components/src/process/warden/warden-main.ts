/**
 * The warden: a process in its own session that starts real components for another process, its owner, and cleans up after
 * the owner has ended.
 *
 *   owner ──IPC──▶ warden ──spawn──▶ etcd, kube-apiserver, … (each the leader of its own process group)
 *     ╳ ends          └─ channel closes: SIGKILL to every group, folders removed, exit
 *
 * In tests it also watches the parent of the owner (the test runner), whose workers may hang when it is killed.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdtempSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processIdentity } from "./register.ts";
import { killGroup, register } from "./register.ts";
import type { StartRequest, WardenReply, WardenRequest } from "./warden-protocol.ts";

const GUARD_INTERVAL_MS = 500;
const children = new Map<number, ChildProcess>();
const folders = new Set<string>();
let leaving = false;

function reply(reply: WardenReply): void {
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
      if (pid === undefined) reply({ type: "failed", id, reason: error.message });
    });
    if (pid === undefined) return;
    children.set(pid, child);
    if (request.register !== undefined) register(request.register, pid);
    child.on("exit", (code, signal) => {
      children.delete(pid);
      reply({ type: "exited", pid, exit: { code, signal } });
    });
    reply({ type: "done", id, pid });
  } finally {
    closeSync(log);
  }
}

/** Created here instead of by the owner, so that it is always removed. */
function makeFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), `oaas-${prefix}-`));
  folders.add(folder);
  return folder;
}

function handle(request: WardenRequest): void {
  try {
    const { id } = request;
    if (request.type === "start") return start(id, request.start);
    if (request.type === "make-folder") return reply({ type: "done", id, folder: makeFolder(request.prefix) });
    folders.delete(request.folder);
    reply({ type: "done", id });
  } catch (error) {
    reply({ type: "failed", id: request.id, reason: String(error) });
  }
}

/** Guarantees: when this process ends, all its process groups have ended and all its folders are removed. */
async function cleanUp(): Promise<void> {
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
    if (processIdentity(guardPid) !== identity) void cleanUp();
  }, GUARD_INTERVAL_MS);
}
process.on("message", (request: WardenRequest) => handle(request));
process.on("disconnect", () => void cleanUp());
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => void cleanUp());
