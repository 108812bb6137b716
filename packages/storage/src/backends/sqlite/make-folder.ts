import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Creates a folder and its missing parents, from the top.
 *
 * `mkdirSync(…, { recursive: true })` is not used: it loops forever on a file system that returns ENOENT for every new
 * folder, such as /proc.
 */
export function makeFolder(folder: string): void {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const each of missing.reverse()) makeOne(each);
}

function makeOne(folder: string): void {
  try {
    mkdirSync(folder);
  } catch (thrown) {
    // Another process created it meanwhile.
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
}
