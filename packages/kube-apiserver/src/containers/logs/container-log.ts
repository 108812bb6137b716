import { timestamp } from "@oaas/foundation";
import type { LogOptions } from "./log-options.ts";

/** Limits of the kept output of one run of a container. Older lines are dropped. */
const MAX_LINES = 1000;
const MAX_BYTES = 256 * 1024;
/** Longer lines are split, as the kubelet does. */
const MAX_LINE_BYTES = 16 * 1024;

interface Line {
  readonly atMs: number;
  readonly text: string;
}

/** The output of one run of a container: a bounded ring of lines that readers can follow. */
export class ContainerLog {
  #lines: Line[] = [];
  #bytes = 0;
  /** The number of dropped lines: the position of the first kept one. */
  #dropped = 0;
  #isEnded = false;
  readonly #waiting = new Set<() => void>();

  append(atMs: number, text: string): void {
    if (this.#isEnded) return;
    for (const line of text.replace(/\n$/, "").split("\n")) {
      for (let from = 0; from === 0 || from < line.length; from += MAX_LINE_BYTES) {
        this.#push({ atMs, text: line.slice(from, from + MAX_LINE_BYTES).replace(/\r$/, "") });
      }
    }
    this.#wake();
  }

  /** No more output follows; followers end. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /**
   * The selected lines, and with `follow` later ones until the run or the signal ends. A reader that falls behind the
   * ring skips the lines it missed, so that it costs no memory.
   */
  async *read(options: LogOptions, signal: AbortSignal): AsyncGenerator<string> {
    const { sinceMs = -Infinity, limitBytes = Infinity } = options;
    let left = limitBytes;
    let position = this.#firstPosition(options);
    for (;;) {
      const lines = this.#lines.slice(Math.max(0, position - this.#dropped)).filter(({ atMs }) => atMs >= sinceMs);
      position = this.#dropped + this.#lines.length;
      const text = lines
        .map((line) => `${options.timestamps ? `${timestamp(line.atMs)} ` : ""}${line.text}\n`)
        .join("");
      const kept = cutBytes(text, left);
      left -= Buffer.byteLength(kept);
      if (kept !== "") yield kept;
      if (!options.follow || left <= 0 || signal.aborted) return;
      if (position === this.#dropped + this.#lines.length) {
        if (this.#isEnded) return;
        await this.#change(signal);
        if (signal.aborted) return;
      }
    }
  }

  #firstPosition({ tailLines, sinceMs = -Infinity }: LogOptions): number {
    if (tailLines === undefined) return this.#dropped;
    const older = this.#lines.filter(({ atMs }) => atMs >= sinceMs).length - tailLines;
    const recent = this.#lines.length - Math.min(tailLines, this.#lines.length);
    return this.#dropped + (older <= 0 ? 0 : recent);
  }

  #push(line: Line): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line.text) + 1;
    let surplus = Math.max(0, this.#lines.length - MAX_LINES);
    let bytes = this.#lines.slice(0, surplus).reduce((sum, { text }) => sum + Buffer.byteLength(text) + 1, 0);
    while (this.#bytes - bytes > MAX_BYTES && surplus < this.#lines.length - 1) {
      bytes += Buffer.byteLength(this.#lines[surplus]?.text ?? "") + 1;
      surplus += 1;
    }
    if (surplus === 0) return;
    this.#lines = this.#lines.slice(surplus);
    this.#bytes -= bytes;
    this.#dropped += surplus;
  }

  async #change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener("abort", done);
    });
  }

  #wake(): void {
    for (const resume of this.#waiting) resume();
  }
}

/** The first bytes of a text, without a part of a character. */
function cutBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString()
    .replace(/\uFFFD$/, "");
}
