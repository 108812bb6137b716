import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { CONFIG_FILE_LIMITS } from "@oaas/config";
import { failedPrecondition } from "@oaas/foundation";

/** A pipe without a writer would block the process. */
const CONFIG_OPEN = constants.O_RDONLY | constants.O_NONBLOCK;

/** Reads a configuration file. Throws a fault for one that is missing, is not a file, or is too large to parse. */
export function readConfigFile(path: string): string {
  let file: number;
  try {
    file = openSync(path, CONFIG_OPEN);
  } catch (thrown) {
    throw refuse(path, (thrown as NodeJS.ErrnoException).code ?? "open failed", thrown);
  }
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw refuse(path, "it is not a regular file");
    if (status.size > CONFIG_FILE_LIMITS.characters) {
      throw refuse(path, `it is larger than ${CONFIG_FILE_LIMITS.characters} bytes`);
    }
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function refuse(path: string, why: string, cause?: unknown): Error {
  return failedPrecondition(path, `cannot read the configuration file ${path}: ${why}`, { cause });
}
