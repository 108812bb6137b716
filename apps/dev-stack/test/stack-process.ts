import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { runCommand } from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const STACK = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");
const CLI = path.join(ROOT, "apps", "cli", "src", "main.ts");

/** A stack in another process, as described by its ready line. */
export interface StackProcess {
  readonly child: ChildProcess;
  /** URL of the package manager. */
  readonly url: string;
  readonly page_url: string;
  readonly start: number;
  readonly clusters: readonly { readonly name: string; readonly apiUrl: string; readonly kubeconfig: string }[];
  /** The output before the ready line. */
  readonly output: string;
}

/** Starts a stack on free ports and waits until it is ready; throws with its output if it ends before. */
export async function startStack(
  dataDir: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<StackProcess> {
  const args = [STACK, "--ports=0", `--data=${dataDir}`, "--output=json", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"status":"ready"')) {
      output += `${line}\n`;
      continue;
    }
    // Keep reading, so that the process never blocks on a full pipe.
    child.stdout.resume();
    return { ...(JSON.parse(line) as StackProcess), child, output };
  }
  throw new Error(`the stack ended before it was ready:\n${output}`);
}

/** Sends a signal and waits for the exit. */
export async function stopStack(
  { child }: Pick<StackProcess, "child">,
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

/** Starts the CLI as a long-running process and captures its output. */
export function startOaas(args: readonly string[]): {
  readonly child: ChildProcess;
  readonly output: { text: string };
} {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const output = { text: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.text += chunk.toString()));
  return { child, output };
}

export interface CommandOutcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface OaasOptions {
  readonly cwd?: string;
  readonly timeoutMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs the CLI as a process without a terminal. */
export async function oaas(
  args: readonly string[],
  { cwd = ROOT, timeoutMs = 240_000, env = {} }: OaasOptions = {},
): Promise<CommandOutcome> {
  return runCommand(process.execPath, [CLI, ...args], { cwd, env: { ...process.env, HOME: cwd, ...env }, timeoutMs });
}
