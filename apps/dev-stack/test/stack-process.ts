import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { runCommand } from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const STACK = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");
const CLI = path.join(ROOT, "apps", "cli", "src", "main.ts");

/** A stack in a process of its own, as its last line of the start describes it. */
export interface StackProcess {
  readonly child: ChildProcess;
  /** Of the package manager. */
  readonly url: string;
  readonly page_url: string;
  readonly start: number;
  readonly clusters: readonly { readonly name: string; readonly apiUrl: string; readonly kubeconfig: string }[];
  /** Everything it said before. */
  readonly said: string;
}

/** Starts a stack on free ports and waits until it is ready; a stack that ends before is an error with what it said. */
export async function startStack(
  dataDir: string,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<StackProcess> {
  const args = [STACK, "--ports=0", `--data=${dataDir}`, "--output=json", ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{"status":"ready"')) {
      said += `${line}\n`;
      continue;
    }
    // Goes on reading, so that the process never waits for us.
    child.stdout.resume();
    return { ...(JSON.parse(line) as StackProcess), child, said };
  }
  throw new Error(`the stack ended before it was ready:\n${said}`);
}

/** Ends it and waits for that. */
export async function end({ child }: Pick<StackProcess, "child">, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const exited = once(child, "exit");
  child.kill(signal);
  const [code] = (await exited) as [number | null];
  return code;
}

/** The command line as a program that goes on until it is ended; what it writes is kept. */
export function startOaas(args: readonly string[]): { readonly child: ChildProcess; readonly seen: { text: string } } {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const seen = { text: "" };
  child.stdout.on("data", (chunk: Buffer) => (seen.text += chunk.toString()));
  return { child, seen };
}

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line as a program, in a folder, without a terminal. */
export async function oaas(args: readonly string[], { cwd = ROOT, timeoutMs = 240_000 } = {}): Promise<Ran> {
  return runCommand(process.execPath, [CLI, ...args], { cwd, env: { ...process.env, HOME: cwd }, timeoutMs });
}
