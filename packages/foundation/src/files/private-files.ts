import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { failedPrecondition } from "../faults/fault.ts";

/** Mode of files with secrets: only the owner reads and writes. */
export const PRIVATE_FILE = 0o600;
/** Mode of folders with secrets. */
export const PRIVATE_FOLDER = 0o700;

/** Permissions that were removed from a file or folder. */
export interface Tightened {
  readonly path: string;
  /** In octal, such as 0644. */
  readonly before: string;
  readonly after: string;
}

const PERMISSIONS = 0o777;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Creates a folder and its missing parents from the top, for the owner only. Existing folders are not changed.
 *
 * `mkdirSync(…, { recursive: true })` is not used: it loops forever on a file system that returns ENOENT for every new
 * folder, such as /proc.
 */
export function makePrivateFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const each of missing.reverse()) makeOne(each);
}

/**
 * Creates a folder for the owner only. An existing folder is made private when it is empty or contains `ownFile`; any
 * other folder, such as a home folder, is shared with other programs and stays as it is.
 */
export function preparePrivateFolder(folder: string, ownFile: string): Tightened | undefined {
  makePrivateFolder(folder);
  const names = readdirSync(folder);
  return names.length === 0 || names.includes(ownFile) ? tightenPermissions(folder) : undefined;
}

/**
 * Removes the permissions of other users from a file or folder. Undefined when it does not exist or is private already.
 *
 * Throws failed-precondition when another user owns it, because its content is then theirs. Does nothing on a system
 * without user ids.
 */
export function tightenPermissions(path: string): Tightened | undefined {
  const stats = statOf(path);
  const user = process.geteuid?.();
  if (stats === undefined || user === undefined) return undefined;
  if (stats.uid !== user) {
    throw failedPrecondition(
      path,
      `${path} belongs to user ${stats.uid}, but this process runs as user ${user}; change its owner or use another path`,
    );
  }
  if ((stats.mode & OTHERS) === 0) return undefined;
  const mode = stats.mode & PERMISSIONS & ~OTHERS;
  chmodSync(path, mode);
  return { path, before: octal(stats.mode & PERMISSIONS), after: octal(mode) };
}

/** Whether other users can replace the files of a folder. They cannot in a sticky folder such as /tmp. */
export function isWritableByOthers(folder: string): boolean {
  const stats = statOf(folder);
  if (stats === undefined || process.geteuid === undefined) return false;
  return (stats.mode & OTHERS_WRITE) !== 0 && (stats.mode & STICKY) === 0;
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, "0");
}

function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: PRIVATE_FOLDER });
  } catch (thrown) {
    // Another process created it meanwhile.
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
}
