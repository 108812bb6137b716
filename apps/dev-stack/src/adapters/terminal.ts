import { createInterface } from "node:readline/promises";
import type { ReadStream, WriteStream } from "node:tty";
import { decodeKeys, type Key } from "../screen/keys.ts";
import type { Paint } from "../screen/view.ts";
import type { ScreenTerminal } from "../screen/screen-display.ts";

const COLOURS = { running: 32, starting: 33, degraded: 33, failed: 31, off: 2 } as const;

/** Colours symbols unless NO_COLOR is set. */
export function createPaint(env: Readonly<Record<string, string | undefined>>): Paint {
  if ((env["NO_COLOR"] ?? "") !== "") return (text) => text;
  return (text, state) => `\u001B[${COLOURS[state]}m${text}\u001B[0m`;
}

/** Size of a terminal that does not report one. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

export function screenTerminal(stream: WriteStream): ScreenTerminal {
  return {
    size: () => ({ columns: stream.columns || DEFAULT_SIZE.columns, rows: stream.rows || DEFAULT_SIZE.rows }),
    write: (text) => void stream.write(text),
  };
}

/**
 * Reads single key presses in raw mode, including Ctrl-C; returns a function that restores the terminal. It is also
 * restored when the process ends for any other reason, such as an uncaught error.
 */
export function onKeys(input: ReadStream, onKey: (key: Key) => void): () => void {
  if (!input.isTTY) return () => undefined;
  const onData = (keys: string): void => {
    for (const key of decodeKeys(keys)) onKey(key);
  };
  const leaveRawMode = (): void => void input.setRawMode(false);
  input.setRawMode(true).setEncoding("utf8").on("data", onData).resume();
  process.once("exit", leaveRawMode);
  return () => {
    process.off("exit", leaveRawMode);
    input.off("data", onData).setRawMode(false).pause();
  };
}

/** Prompts for one line; undefined without a terminal. */
export function createPrompt(
  input: ReadStream,
  output: WriteStream,
): ((question: string) => Promise<string>) | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  return async (question) => {
    const lines = createInterface({ input, output });
    try {
      return await lines.question(question);
    } finally {
      lines.close();
    }
  };
}
