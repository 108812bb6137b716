import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { eventually, freePorts, runCommand } from "@oaas/testkit";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

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
export async function startStack(): Promise<Served> {
  const folder = await mkdtemp(path.join(tmpdir(), "oaas-console-"));
  const args = ["apps/dev-stack/src/main.ts", "--ports=0", `--data=${folder}`, "--output=json"];
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

/** A package manager that requires a token, without clusters. */
export async function startWithToken(name: string, role: string, token: string): Promise<Served> {
  const folder = await mkdtemp(path.join(tmpdir(), "oaas-console-"));
  const file = path.join(folder, "tokens");
  const digest = createHash("sha256").update(token).digest("hex");
  await writeFile(file, `${name}:${role}:${digest}\n`, { mode: 0o600 });
  const [port = 0] = await freePorts(1);
  const env = { ...process.env, SERVER_PORT: String(port), AUTH_TOKENS_FILE: file };
  const child = spawn(process.execPath, ["apps/package-manager/src/main.ts"], { cwd: ROOT, env, stdio: "ignore" });
  const url = `http://127.0.0.1:${port}`;
  try {
    await eventually(async () => (await fetch(`${url}/readyz`)).ok, { what: "the package manager" });
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
