import { readFileSync, statSync } from "node:fs";
import { failedPrecondition } from "../faults/fault.ts";
import type { Clock } from "../time/time.ts";

/** A text that may change on disk. */
export interface TextSource {
  /** Returns the current text. */
  read(): string;
  /** Makes the next read check the file immediately. */
  forget(): void;
}

/** How often a file is checked for changes: rotated tokens and certificates overlap by minutes. */
const LOOK_EVERY_MS = 5_000;

/**
 * A file that is re-read when it is replaced, checked at most every few seconds.
 *
 * Guarantees: after the first read, a missing or empty file (as during a replacement) keeps the last text.
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
    if (content.trim() === "") throw new Error("the file is empty");
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
          throw failedPrecondition(file, `cannot read ${file}: ${(error as Error).message}`, { cause: error });
        }
      }
      return text ?? "";
    },
    forget: () => {
      lookedAt = Number.NEGATIVE_INFINITY;
    },
  };
}
