import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { cacheDir, runCommand } from "@oaas/testkit";

/** A program under measurement; all programs accept the same arguments after `args`. */
export interface ClientProgram {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

const GO_MODULE = path.join(import.meta.dirname, "client-go");
const CLIENT_NODE = { name: "@kubernetes/client-node", version: "2.0.1" };
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

/** The official JavaScript client, installed outside the workspace. */
export async function clientNode(log: (line: string) => void): Promise<ClientProgram> {
  const { name, version } = CLIENT_NODE;
  const folder = await obtained(`client-node-${version}`, async (made) => {
    log(`installing ${name} ${version}`);
    await writeFile(
      path.join(made, "package.json"),
      JSON.stringify({ private: true, dependencies: { [name]: version } }),
    );
    await mustRun("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], made, {});
  });
  const entry = pathToFileURL(path.join(folder, "node_modules", name, "dist", "index.js")).href;
  const { command, args } = nodeProgram(import.meta.resolve("./programs/client-node.ts"));
  return { name: "client-node", command, args: [...args, entry] };
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
