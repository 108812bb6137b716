import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";

const POLL_MS = 250;
const SQLITE_BUSY = 5;

/** Held until disposed or until this process ends. */
export interface Lock extends Disposable {
  readonly file: string;
}

/**
 * Acquires a lock across all processes of this machine.
 *
 * Guarantees: one owner at a time; the lock of a dead process is released at once, because it is an operating system lock
 * (through SQLite). While another process holds it, `onWait` is called once per owner.
 */
export async function takeLock(file: string, onWait: (owner: string) => void): Promise<Lock> {
  mkdirSync(dirname(file), { recursive: true });
  let lastOwner: string | undefined;
  for (;;) {
    const lock = tryLock(file);
    if (lock) return lock;
    const owner = ownerOf(file);
    if (owner !== lastOwner) onWait(owner);
    lastOwner = owner;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function tryLock(file: string): Lock | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return undefined;
    throw error;
  }
  writeFileSync(`${file}.owner`, `process ${process.pid}, since ${new Date().toISOString()}\n`);
  return { file, [Symbol.dispose]: () => database.close() };
}

function ownerOf(file: string): string {
  try {
    return readFileSync(`${file}.owner`, "utf8").trim();
  } catch {
    return "another process";
  }
}
