import { readFile } from "node:fs/promises";
import { createNodeEnvironment } from "../src/adapters/node-environment.ts";
import { runCli } from "../src/run-cli.ts";
import type { ProcessEnvironment } from "../src/process-environment.ts";

/** The output and the exit code of a command. */
export interface CliResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Answers to prompts in order; without them there is no terminal. */
  readonly answers?: readonly string[];
  /** Aborted like Ctrl-C. */
  readonly signal?: AbortSignal;
  /** Called with all standard output so far. */
  readonly onOutput?: (out: string) => void;
}

/** Runs the CLI in this process with the real files and network, and captures its output. */
export function createCliRunner(home: string, env: Readonly<Record<string, string>> = {}) {
  return async (line: string | readonly string[], options: CliOptions = {}): Promise<CliResult> => {
    const argv = typeof line === "string" ? line.split(" ").filter((word) => word !== "") : line;
    const written = { out: "", err: "" };
    const answers = [...(options.answers ?? [])];
    const { signal = new AbortController().signal, onOutput } = options;
    const environment: ProcessEnvironment = {
      ...createNodeEnvironment(signal),
      home,
      env: { ...env, ...options.env },
      terminal: {
        out: (text) => {
          written.out += text;
          onOutput?.(written.out);
        },
        err: (text) => void (written.err += text),
        isInteractive: false,
        canPrompt: options.answers !== undefined,
        columns: 120,
        prompt: async (question) => {
          written.err += question;
          return answers.shift() ?? "";
        },
        readStdin: async () => options.input ?? "",
      },
    };
    const code = await runCli(argv, {
      version: "0.0.0-test",
      env: environment.env,
      out: (text) => environment.terminal.out(text),
      err: (text) => environment.terminal.err(text),
      environment: async () => environment,
    });
    return { code, ...written };
  };
}

export async function readText(file: string): Promise<string> {
  return readFile(file, "utf8");
}
