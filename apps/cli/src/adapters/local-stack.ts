import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import { makePrivateFolder, PRIVATE_FILE } from "@oaas/foundation/files";
import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { UsageError } from "../exit-code.ts";

const BUILD_TIMEOUT_MS = 120_000;
const PROGRAM = path.join("apps", "dev-stack", "src", "main.ts");

/** The repository clone that contains this program, as sources or as a bundle in `dist`; undefined outside a clone. */
function findClone(): string | undefined {
  const here = import.meta.dirname;
  return [path.resolve(here, "..", "..", "..", ".."), path.dirname(here)].find((root) =>
    existsSync(path.join(root, PROGRAM)),
  );
}

function spawnStack(flags: readonly string[], options: SpawnOptions): ChildProcess {
  const root = findClone();
  const program = root === undefined ? path.join(import.meta.dirname, "dev-stack.mjs") : path.join(root, PROGRAM);
  if (!existsSync(program)) {
    throw new UsageError(
      `the local stack program ${program} does not exist`,
      "run oaas in a clone of the repository, or run npm run bundle",
    );
  }
  // Compiling takes half of the start time, so use the same compile cache as npm start.
  const compiled = root === undefined ? {} : { NODE_COMPILE_CACHE: path.join(root, "node_modules", ".cache", "node") };
  return spawn(process.execPath, [...STACK_NODE_FLAGS, program, ...flags], {
    env: { ...compiled, ...process.env },
    ...options,
  });
}

/**
 * Builds the console of a clone when its sources changed, as `npm start` does. A failed build is reported to `errors`, and
 * the stack starts with the last one. Outside a clone there is nothing to build: the console is part of the bundle.
 */
function buildConsole(errors: number): void {
  const root = findClone();
  if (root === undefined) return;
  const args = [path.join(root, "tools", "run.ts"), "console"];
  spawnSync(process.execPath, args, { cwd: root, stdio: ["ignore", "ignore", errors], timeout: BUILD_TIMEOUT_MS });
}

/** Runs the stack in the foreground and returns its exit code. The stack handles Ctrl-C. */
export async function runInForeground(flags: readonly string[]): Promise<number> {
  buildConsole(process.stderr.fd);
  // The stack detects through the closed IPC channel that this process was killed.
  const child = spawnStack(flags, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** A stack that runs in the background. */
export interface Detached {
  readonly pid: number;
  /** Its exit code, once it has ended. */
  readonly exitCode: () => number | undefined;
}

/** Starts the stack in the background with its output in a file. */
export function runDetached(flags: readonly string[], outFile: string): Detached {
  const out = openOutputFile(outFile);
  buildConsole(out);
  const child = spawnStack(flags, { stdio: ["ignore", out, out], detached: true });
  closeSync(out);
  child.unref();
  let code: number | undefined;
  child.once("exit", (given) => (code = given ?? 1));
  return { pid: child.pid ?? 0, exitCode: () => code };
}

/** Opens the output file and writes to it, to detect a full or read-only disk early. */
function openOutputFile(file: string): number {
  try {
    makePrivateFolder(path.dirname(file));
    const out = openSync(file, "w", PRIVATE_FILE);
    writeSync(out, `starting the local stack, ${new Date().toISOString()}\n`);
    return out;
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const remedy = code === "ENOSPC" ? "the disk is full. Free some space, or choose" : `${code}. Choose`;
    throw failedPrecondition(file, `cannot write ${file}: ${remedy} another folder with --data`, { cause });
  }
}

/** Whether a process is running. A zombie, as in a container without an init process, is not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (thrown) {
    // EPERM: the process exists and belongs to another user.
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // Not on Linux, or the process has exited.
    return false;
  }
}

/** The entries of a data folder that belong to a stack; nothing else is removed. */
const STACK_ENTRIES =
  /^(?:store\.sqlite.*|stack\.json.*|.+\.log|up\.out|kubeconfig|clusters|contexts|encryption\.key)$/;

/** The stack's entries in a data folder; undefined if the folder does not exist. */
export async function listStackData(dataDir: string): Promise<readonly string[] | undefined> {
  const entries = await readdir(dataDir).catch(() => undefined);
  return entries?.filter((entry) => STACK_ENTRIES.test(entry)).toSorted();
}

/** Removes the stack's entries, and the folder if it is empty then. */
export async function removeStackData(dataDir: string): Promise<void> {
  for (const entry of (await listStackData(dataDir)) ?? []) {
    await rm(path.join(dataDir, entry), { recursive: true, force: true });
  }
  await rmdir(dataDir).catch(() => undefined);
}
