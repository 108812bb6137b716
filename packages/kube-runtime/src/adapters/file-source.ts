import { readFileSync, statSync } from "node:fs";
import { failedPrecondition, type Clock } from "@oaas/foundation";
import type { FileOrData } from "../client/access.ts";

/** A text that may change on disk. */
export interface TextSource {
  /** The present text. */
  read(): string;
  /** Makes the next read look at the file, however soon it comes. */
  forget(): void;
}

/** How often a file's stamp is looked at: rotated tokens and certificates overlap by minutes. */
const LOOK_EVERY_MS = 5_000;

/**
 * A file that is read again when it was replaced, looked at no more than every few seconds.
 *
 * Guarantees: once it was read, a file that is away for a moment or empty, as while it is being replaced, leaves the last text in force.
 */
export function fileSource(file: string, clock: Clock): TextSource {
  let text: string | undefined;
  let stamp = "";
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = (): void => {
    lookedAt = clock.monotonic();
    const { mtimeMs, ino, size } = statSync(file);
    const present = `${mtimeMs}:${ino}:${size}`;
    if (present === stamp) return;
    const content = readFileSync(file, "utf8");
    if (content.trim() === "") throw new Error("it is empty");
    text = content;
    stamp = present;
  };
  return {
    read: () => {
      if (text !== undefined && clock.monotonic() - lookedAt < LOOK_EVERY_MS) return text;
      try {
        look();
      } catch (error) {
        if (text === undefined) {
          throw failedPrecondition(file, `${file} cannot be read: ${(error as Error).message}`, { cause: error });
        }
      }
      return text ?? "";
    },
    forget: () => {
      lookedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** Data given in place (base64, as kubeconfig has it) never changes; a file may. */
export function textSource(source: FileOrData, clock: Clock): TextSource {
  if (source.file !== undefined) return fileSource(source.file, clock);
  const text = Buffer.from(source.data, "base64").toString("utf8");
  return { read: () => text, forget: () => undefined };
}
