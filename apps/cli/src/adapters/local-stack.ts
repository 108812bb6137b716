import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { failedPrecondition } from "@oaas/foundation";
import { STACK_NODE_FLAGS } from "@oaas/stack-folder";
import { UsageError } from "../exit-code.ts";

const PROGRAM = path.join("apps", "dev-stack", "src", "main.ts");

/** The clone that this program runs in, from its sources or as a bundle in `dist`; undefined outside of one. */
function clone(): string | undefined {
  const here = import.meta.dirname;
  return [path.resolve(here, "..", "..", "..", ".."), path.dirname(here)].find((root) =>
    existsSync(path.join(root, PROGRAM)),
  );
}

function start(flags: readonly string[], options: SpawnOptions): ChildProcess {
  const root = clone();
  const program = root === undefined ? path.join(import.meta.dirname, "dev-stack.mjs") : path.join(root, PROGRAM);
  if (!existsSync(program)) {
    throw new UsageError(`there is no local stack at ${program}`, "run it in a clone, or npm run bundle");
  }
  // Half of a start is compiling; what was compiled is kept, as npm start keeps it.
  const compiled = root === undefined ? {} : { NODE_COMPILE_CACHE: path.join(root, "node_modules", ".cache", "node") };
  return spawn(process.execPath, [...STACK_NODE_FLAGS, program, ...flags], {
    env: { ...compiled, ...process.env },
    ...options,
  });
}

/** Runs the stack in this terminal until it ends; answers its exit code. Ctrl-C is its to handle. */
export async function runHere(flags: readonly string[]): Promise<number> {
  // By the end of the channel it learns that we were killed.
  const child = start(flags, { stdio: ["inherit", "inherit", "inherit", "ipc"] });
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

/** A stack that runs on when this program has ended. */
export interface Detached {
  readonly pid: number;
  /** Its exit code, once it has ended. */
  readonly ended: () => number | undefined;
}

/** Runs the stack on its own; what it says goes to a file. */
export function runDetached(flags: readonly string[], outFile: string): Detached {
  const out = openOut(outFile);
  const child = start(flags, { stdio: ["ignore", out, out], detached: true });
  closeSync(out);
  child.unref();
  let code: number | undefined;
  child.once("exit", (given) => (code = given ?? 1));
  return { pid: child.pid ?? 0, ended: () => code };
}

/** Takes room for what the stack will say, so that a disk on which it could say nothing is known now. */
function openOut(file: string): number {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    const out = openSync(file, "w", 0o600);
    writeSync(out, `starting: the local stack, ${new Date().toISOString()}\n`);
    return out;
  } catch (cause) {
    const { code = "" } = cause as NodeJS.ErrnoException;
    const remedy = code === "ENOSPC" ? "the disk is full. Make room, or choose" : `${code}. Choose`;
    throw failedPrecondition(file, `${file} cannot be written: ${remedy} another folder with --data`, { cause });
  }
}

/** Whether a process is there and has not ended; one that nobody has taken leave of (in a container without an init) has. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (thrown) {
    // Another user's process is there too.
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // Not on Linux, or gone meanwhile.
    return false;
  }
}

/** What a stack keeps in its data folder; nothing else is ever removed. */
const OURS = /^(?:store\.sqlite.*|stack\.json.*|.+\.log|up\.out|kubeconfig|clusters|contexts)$/;

/** What of a data folder belongs to the stack; undefined when the folder is not there. */
export async function stackData(dataDir: string): Promise<readonly string[] | undefined> {
  const entries = await readdir(dataDir).catch(() => undefined);
  return entries?.filter((entry) => OURS.test(entry)).toSorted();
}

/** Removes what belongs to the stack, and the folder when nothing else is in it. */
export async function removeStackData(dataDir: string): Promise<void> {
  for (const entry of (await stackData(dataDir)) ?? []) {
    await rm(path.join(dataDir, entry), { recursive: true, force: true });
  }
  await rmdir(dataDir).catch(() => undefined);
}
