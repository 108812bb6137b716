import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";

/** The raw terminal output and the exit code. */
export interface TerminalRun {
  readonly raw: string;
  readonly code: number | null;
}

export interface TerminalOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly columns?: number;
  /** Input to type, each after the given text has appeared. */
  readonly input?: readonly { readonly after: string; readonly text: string }[];
  /** Called with all output so far, on every new chunk. */
  readonly onOutput?: (raw: string) => void;
}

/** Why there is no pseudo-terminal; undefined if there is one. Needs `script` of util-linux. */
export function missingTerminalReason(): string | undefined {
  const { error, stdout } = spawnSync("script", ["--version"], { encoding: "utf8" });
  if (error) return `script is not installed (${error.message}); it comes with util-linux`;
  return stdout.includes("util-linux") ? undefined : "script is not the util-linux version";
}

/** Runs a command line in a pseudo-terminal and input into it. */
export async function runInTerminal(argv: readonly string[], options: TerminalOptions): Promise<TerminalRun> {
  const { env, cwd, columns = 120, input = [], onOutput } = options;
  const quoted = argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const child = spawn("script", ["-qefc", `stty cols ${columns} rows 50; exec ${quoted}`, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", SHELL: "/bin/sh", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const waiting = [...input];
  let raw = "";
  let seenTo = 0;
  child.stdout.on("data", (part: Buffer) => {
    raw += part.toString("utf8");
    onOutput?.(raw);
    const [next] = waiting;
    const found = next ? raw.indexOf(next.after, seenTo) : -1;
    if (!next || found < 0) return;
    seenTo = found + next.after.length;
    waiting.shift();
    child.stdin.write(next.text);
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { raw, code };
}
