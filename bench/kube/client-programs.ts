import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { cacheDir, runCommand } from "@oaas/testkit";

/** A program under measurement; all programs accept the same arguments after `args`. */
export interface ClientProgram {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const GO_MODULE = path.join(import.meta.dirname, "client-go");
const OBTAIN_MS = 600_000;

/** Our client. */
export function ours(): ClientProgram {
  return { name: "kube-runtime", ...nodeProgram(import.meta.resolve("./programs/ours.ts")) };
}

/** Kubernetes' own Go library; built once per state of its sources, kept with the other real components. */
export async function clientGo(log: (line: string) => void): Promise<ClientProgram> {
  const sources = globSync("*", { cwd: GO_MODULE }).toSorted();
  const hash = createHash("sha256").update(process.arch);
  for (const source of sources) hash.update(source).update(readFileSync(path.join(GO_MODULE, source)));
  const folder = await obtained(`client-go-${hash.digest("hex").slice(0, 12)}`, async (made) => {
    log("building the program on client-go");
    const flags = ["-trimpath", "-ldflags=-s -w", "-o", path.join(made, "contender")];
    await mustRun("go", ["build", ...flags, "."], GO_MODULE, { CGO_ENABLED: "0", GOWORK: "off" });
  });
  return { name: "client-go", command: path.join(folder, "contender"), args: [] };
}

function nodeProgram(url: string): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: ["--expose-gc", fileURLToPath(url)] };
}

/** A folder in the cache, created if missing. It gets its name only when it is complete. */
async function obtained(name: string, make: (folder: string) => Promise<void>): Promise<string> {
  const parent = path.join(cacheDir(), "bench");
  const folder = path.join(parent, name);
  if (existsSync(folder)) return folder;
  await mkdir(parent, { recursive: true });
  const attempt = await mkdtemp(path.join(parent, `.${name}-`));
  try {
    await make(attempt);
    await rename(attempt, folder);
  } finally {
    await rm(attempt, { recursive: true, force: true });
  }
  return folder;
}

async function mustRun(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const host = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
  const result = await runCommand(command, args, {
    cwd,
    env: { ...(host as Record<string, string>), ...env },
    timeoutMs: OBTAIN_MS,
  });
  if (result.exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${result.stderr.slice(-2_000)}`);
}
