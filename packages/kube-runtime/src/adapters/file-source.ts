import { readFileSync, statSync } from "node:fs";
import { failedPrecondition, type Clock } from "@oaas/foundation";
import type { FileOrData } from "../client/access.ts";

/** A text that may change on disk. `read` answers the present one; `changed` whether it differs from the last read. */
export interface TextSource {
  read(): string;
  changed(): boolean;
}

/** How often a file's stamp is looked at: rotated tokens and certificates overlap by minutes. */
const LOOK_EVERY_MS = 5_000;

/** A file that is read again when it was replaced, looked at no more than every few seconds. */
export function fileSource(file: string, clock: Clock): TextSource {
  let text: string | undefined;
  let stamp = "";
  let lookedAt = Number.NEGATIVE_INFINITY;
  const stampOf = (): string => {
    try {
      const { mtimeMs, ino, size } = statSync(file);
      return `${mtimeMs}:${ino}:${size}`;
    } catch (error) {
      throw failedPrecondition(file, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  };
  const changed = (): boolean => {
    if (text === undefined) return true;
    if (clock.monotonic() - lookedAt < LOOK_EVERY_MS) return false;
    lookedAt = clock.monotonic();
    return stampOf() !== stamp;
  };
  return {
    changed,
    read: () => {
      if (text !== undefined && !changed()) return text;
      stamp = stampOf();
      lookedAt = clock.monotonic();
      text = readFileSync(file, "utf8");
      return text;
    },
  };
}

/** Data given in place (base64, as kubeconfig has it) never changes; a file may. */
export function textSource(source: FileOrData, clock: Clock): TextSource {
  if (source.file !== undefined) return fileSource(source.file, clock);
  const text = Buffer.from(source.data, "base64").toString("utf8");
  return { read: () => text, changed: () => false };
}
