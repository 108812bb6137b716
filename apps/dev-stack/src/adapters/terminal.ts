import { createInterface } from "node:readline/promises";
import type { ReadStream, WriteStream } from "node:tty";
import type { Paint } from "../screen/view.ts";
import type { ScreenTerminal } from "../screen/screen-face.ts";

const COLOURS = { running: 32, starting: 33, failed: 31, off: 2, absent: 2 } as const;

/** Signs in colours, unless NO_COLOR asks for none. */
export function paintFor(env: Readonly<Record<string, string | undefined>>): Paint {
  if ((env["NO_COLOR"] ?? "") !== "") return (text) => text;
  return (text, state) => `\u001B[${COLOURS[state]}m${text}\u001B[0m`;
}

/** What a terminal has that does not tell its size. */
const USUAL = { columns: 80, rows: 24 };

export function screenTerminal(stream: WriteStream): ScreenTerminal {
  return {
    size: () => ({ columns: stream.columns || USUAL.columns, rows: stream.rows || USUAL.rows }),
    write: (text) => void stream.write(text),
  };
}

/** Single keys, as they are pressed; answers how to give the keyboard back. Ctrl-C is a key then. */
export function onKeys(input: ReadStream, pressed: (key: string) => void): () => void {
  if (!input.isTTY) return () => undefined;
  const tell = (keys: string): void => {
    for (const key of keys) pressed(key);
  };
  input.setRawMode(true).setEncoding("utf8").on("data", tell).resume();
  return () => {
    input.off("data", tell).setRawMode(false).pause();
  };
}

/** Asks a person for one line; undefined when there is none to ask. */
export function asker(input: ReadStream, output: WriteStream): ((question: string) => Promise<string>) | undefined {
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
