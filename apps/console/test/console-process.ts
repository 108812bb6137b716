import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { eventually, freePorts, runCommand } from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

/** Ten thousand deployments are written before the package manager listens. */
const START_MS = 150_000;

/** A program that serves the console. */
export interface Served extends AsyncDisposable {
  readonly url: string;
}

/** Builds the console when its sources changed, as `npm start` does. */
export async function buildConsole(): Promise<void> {
  const args = [path.join(ROOT, "tools", "run.ts"), "console"];
  const { exitCode, stdout, stderr } = await runCommand(process.execPath, args, { cwd: ROOT, timeoutMs: 200_000 });
  if (exitCode !== 0) throw new Error(`the console cannot be built:\n${stdout}${stderr}`);
}

/** The local stack of `npm start`, in a folder of its own on free ports. */
export async function startStack(flags: readonly string[] = []): Promise<Served> {
  const folder = await mkdtemp(path.join(tmpdir(), "oaas-console-"));
  const args = ["apps/dev-stack/src/main.ts", "--ports=0", `--data=${folder}`, "--output=json", ...flags];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    output += `${line}\n`;
    if (!line.startsWith('{"status":"ready"')) continue;
    child.stdout.resume();
    const { url } = JSON.parse(line) as { url: string };
    return { url, [Symbol.asyncDispose]: () => stop(child, folder) };
  }
  throw new Error(`the stack ended before it was ready:\n${output}`);
}

interface PackageManagerOptions {
  /** Lines of the token file: name, role and token. */
  readonly tokens?: readonly (readonly [name: string, role: string, token: string])[];
  /** More settings; the address of the package manager is known before it starts. */
  readonly env?: (url: string) => Readonly<Record<string, string>>;
  /** Another program than that of the package manager itself. */
  readonly program?: string;
}

/** A package manager without clusters, with its data in memory. */
export async function startPackageManager(options: PackageManagerOptions = {}): Promise<Served> {
  const { tokens = [], env, program = "apps/package-manager/src/main.ts" } = options;
  const folder = await mkdtemp(path.join(tmpdir(), "oaas-console-"));
  const file = path.join(folder, "tokens");
  const digest = (token: string): string => createHash("sha256").update(token).digest("hex");
  await writeFile(file, tokens.map(([name, role, token]) => `${name}:${role}:${digest(token)}\n`).join(""), {
    mode: 0o600,
  });
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const settings = {
    SERVER_HOST: "127.0.0.1",
    SERVER_PORT: String(port),
    ...(tokens.length === 0 ? {} : { AUTH_TOKENS_FILE: file }),
    ...env?.(url),
  };
  const child = spawn(process.execPath, [program], {
    cwd: ROOT,
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  try {
    const ended = once(child, "exit").then(() => {
      throw new Error(`the package manager ended:\n${errors}`);
    });
    await Promise.race([
      eventually(async () => (await fetch(`${url}/readyz`)).ok, { what: "the package manager", timeoutMs: START_MS }),
      ended,
    ]);
  } catch (error) {
    await stop(child, folder);
    throw error;
  }
  return { url, [Symbol.asyncDispose]: () => stop(child, folder) };
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
  await rm(folder, { recursive: true, force: true });
}
