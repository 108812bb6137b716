import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readRecord, STATE_FILE } from "@oaas/stack-folder";
import { componentFile, eventually, runCommand } from "@oaas/testkit";
import { runInTerminal, type TerminalOptions } from "../../../apps/cli/test/pseudo-terminal.ts";
import { screenText } from "../../../apps/cli/test/screen-text.ts";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

/** The screen that a command left behind, with colour marks, and its exit code. */
export interface Screen {
  readonly command: string;
  readonly text: string;
  readonly code: number | null;
}

/** A person at two terminals in a fresh copy of the repository: one runs `npm start`, the other takes commands. */
export interface Newcomer extends AsyncDisposable {
  /** The folder of the copy. */
  readonly folder: string;
  /** Types a command in the second terminal and returns its screen. */
  type(command: string, options?: Pick<TerminalOptions, "input" | "columns">): Promise<Screen>;
  /** Reads a JSON document with kubectl from one cluster. */
  kubectl(cluster: string, ...args: readonly string[]): Promise<unknown>;
  /** Raw output of the first terminal so far. */
  liveOutput(): string;
  write(file: string, text: string): void;
}

/** Copies the repository as a clone would have it, and runs `npm start` in a pseudo-terminal until it is ready. */
export async function startNewcomer(): Promise<Newcomer> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-first-day-"));
  copyRepository(folder);
  const programs = path.join(folder, ".bin");
  mkdirSync(programs);
  writeFileSync(path.join(programs, "kubectl"), `#!/bin/sh\nexec "${componentFile("kubectl")}" "$@"\n`);
  chmodSync(path.join(programs, "kubectl"), 0o755);
  const env = { PATH: `${programs}:${process.env["PATH"] ?? ""}`, npm_config_prefer_offline: "true" };
  const terminal = { live: "", isStopping: false };
  const stack = runInTerminal(["npm", "start", "--", "--ports=0"], {
    cwd: folder,
    // npm reads its settings from the home folder.
    env: { ...env, HOME: process.env["HOME"] ?? folder },
    columns: 140,
    onOutput: (raw) => (terminal.live = raw),
  });
  const ended = stack.then(({ raw, code }) => {
    if (!terminal.isStopping) throw new Error(`npm start ended with ${code}:\n${raw.slice(-4000)}`);
  });
  let url: string | undefined;
  const run = (command: string, options: Pick<TerminalOptions, "input" | "columns"> = {}) =>
    runInTerminal(["bash", "-c", command], {
      cwd: folder,
      env: { ...env, HOME: folder, OAAS_PM_URL: url ?? "" },
      ...options,
    });
  const stop = async (): Promise<void> => {
    terminal.isStopping = true;
    await run("npx oaas down");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const ready = async (): Promise<boolean> => (url = await healthyUrl(folder)) !== undefined;
  try {
    await Promise.race([eventually(ready, { timeoutMs: 240_000, what: "npm start" }), ended]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    folder,
    type: async (command, options) => {
      const { raw, code } = await run(command, options);
      return { command, text: screenText(raw), code };
    },
    kubectl: async (cluster, ...args) => {
      const kubeconfig = path.join(folder, ".oaas", "data", "kubeconfig");
      const all = ["--kubeconfig", kubeconfig, "--context", `oaas-${cluster}`, ...args, "-o", "json"];
      const { exitCode, stdout, stderr } = await runCommand(componentFile("kubectl"), all, { env: { HOME: folder } });
      if (exitCode !== 0) throw new Error(stderr);
      return JSON.parse(stdout) as unknown;
    },
    liveOutput: () => terminal.live,
    write: (file, text) => writeFileSync(path.join(folder, file), text),
    [Symbol.asyncDispose]: stop,
  };
}

/** The URL of the package manager once every component of the stack is healthy. */
async function healthyUrl(folder: string): Promise<string | undefined> {
  const file = path.join(folder, ".oaas", "data", STATE_FILE);
  const record = existsSync(file) ? readRecord(readFileSync(file, "utf8")) : undefined;
  if (record === undefined) return undefined;
  const response = await fetch(`${record.pageUrl}/health`).catch(() => undefined);
  if (response?.status !== 200) return undefined;
  return ((await response.json()) as { readonly package_manager: { readonly url: string } }).package_manager.url;
}

/** Copies all files that git tracks or would track. */
function copyRepository(folder: string): void {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
  });
  for (const file of listed.split("\0").filter((name) => name !== "")) {
    cpSync(path.join(ROOT, file), path.join(folder, file), { recursive: true });
  }
}
