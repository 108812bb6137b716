import { readFile } from "node:fs/promises";
import { realWorld } from "../src/adapters/real-world.ts";
import { runCli } from "../src/run-cli.ts";
import type { World } from "../src/world.ts";

/** The output and the exit code of a command. */
export interface Seen {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Answers to prompts in order; without them there is no terminal. */
  readonly answers?: readonly string[];
}

/** Runs the CLI in this process with the real files and network, and captures its output. */
export function cliIn(home: string, env: Readonly<Record<string, string>> = {}) {
  return async (line: string | readonly string[], options: CliOptions = {}): Promise<Seen> => {
    const argv = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
    const written = { out: "", err: "" };
    const answers = [...(options.answers ?? [])];
    const stop = new AbortController();
    const world: World = {
      ...realWorld(stop.signal),
      home,
      env: { ...env, ...options.env },
      terminal: {
        out: (text) => void (written.out += text),
        err: (text) => void (written.err += text),
        isLive: false,
        canAsk: options.answers !== undefined,
        columns: 120,
        ask: async (question) => {
          written.err += question;
          return answers.shift() ?? "";
        },
        input: async () => options.input ?? "",
      },
    };
    const code = await runCli(argv, {
      version: "0.0.0-test",
      env: world.env,
      out: (text) => world.terminal.out(text),
      err: (text) => world.terminal.err(text),
      world: async () => world,
    });
    return { code, ...written };
  };
}

export async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8");
}
