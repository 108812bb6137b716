import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { componentFile, freePorts, runCommand, startProcess, untilReady, type CommandResult } from "@oaas/testkit";
import { ROOT } from "./pages.ts";

/** A running local stack and a folder in which the commands of a page are run, as though it were this repository. */
export interface GuideWorld extends AsyncDisposable {
  /** Of the package manager. */
  readonly url: string;
  /** Where each class runtime manager serves its metrics. */
  readonly managers: readonly string[];
  run(script: string): Promise<CommandResult>;
}

interface ReadyLine {
  readonly status: string;
  readonly url: string;
  readonly clusters: readonly { readonly managerUrl: string }[];
}

/** Addresses as the pages write them; each is a free one here. */
const MAIN_ADDRESS = "127.0.0.1:8080";
const SECOND_PORT = "8090";
const MAIN = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");

/** Starts one stack for all pages. What a command writes stays in its folder, which goes at the end. */
export async function startGuideWorld(): Promise<GuideWorld> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-guides-"));
  for (const name of readdirSync(ROOT)) {
    if (!name.startsWith(".")) symlinkSync(path.join(ROOT, name), path.join(folder, name));
  }
  const logFile = path.join(folder, "stack.log");
  const stack = await startProcess({
    name: "local stack",
    command: process.execPath,
    args: [MAIN, "--server-port=0", "--oaas-stack-page-port=0", "--output=json"],
    cwd: folder,
    logFile,
  });
  let up: ReadyLine | undefined;
  await untilReady(stack, async () => (up = readyLine(logFile)) !== undefined, 120_000);
  const { url, clusters } = up as unknown as ReadyLine;
  const programs = path.join(folder, "bin");
  mkdirSync(programs);
  linkIfThere("kubectl", programs);
  const [secondPort] = await freePorts(1);
  return {
    url,
    managers: clusters.map(({ managerUrl }) => managerUrl),
    run: (script) =>
      runCommand(
        "bash",
        ["-c", script.replaceAll(MAIN_ADDRESS, new URL(url).host).replaceAll(SECOND_PORT, String(secondPort))],
        {
          cwd: folder,
          env: { PATH: pathWith(programs), HOME: folder, OAAS_PM_URL: url },
          timeoutMs: 200_000,
        },
      ),
    [Symbol.asyncDispose]: async () => {
      await stack.stop(30_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function readyLine(logFile: string): ReadyLine | undefined {
  const lines = readFileSync(logFile, "utf8").split("\n");
  const line = lines.find((text) => text.startsWith("{") && text.includes('"status":"ready"'));
  return line === undefined ? undefined : (JSON.parse(line) as ReadyLine);
}

/** Our own commands, and the Node that runs the tests, before those of the machine. */
function pathWith(programs: string): string {
  const own = [programs, path.dirname(process.execPath), path.join(ROOT, "node_modules", ".bin")];
  return [...own, process.env["PATH"] ?? ""].join(":");
}

function linkIfThere(name: "kubectl", folder: string): void {
  try {
    symlinkSync(componentFile(name), path.join(folder, name));
  } catch {
    // Pages that need it are skipped, and say so.
  }
}
