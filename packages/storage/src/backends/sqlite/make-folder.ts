import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing, one by one from above; throws what the file system says.
 *
 * Not `mkdirSync(…, { recursive: true })`: where a file system answers "no such file" to every new folder, as /proc does, that tries for ever.
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
    // Another process made it meanwhile.
    if ((thrown as NodeJS.ErrnoException).code !== "EEXIST") throw thrown;
  }
}
