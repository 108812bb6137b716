import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { missingComponents } from "@oaas/real-components";
import { componentFile, freePorts, runCommand, startProcess, untilReady, type CommandResult } from "@oaas/testkit";
import { ROOT } from "./pages.ts";

/** A running local stack and a copy of the repository layout in which the commands of a page run. */
export interface GuideEnvironment extends AsyncDisposable {
  /** URL of the package manager. */
  readonly url: string;
  /** Metrics URLs of the class runtime managers. */
  readonly managers: readonly string[];
  run(script: string): Promise<CommandResult>;
}

interface ReadyLine {
  readonly status: string;
  readonly url: string;
  readonly clusters: readonly { readonly managerUrl: string }[];
}

/** Addresses on the pages, replaced by free ports. */
const MAIN_ADDRESS = "127.0.0.1:8080";
const OWN_PORTS = ["8090", "8091", "8092", "8093"];
const MAIN = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");

/**
 * Programs of real components that pages call. Snapshots are restored with `etcdctl` until etcd 3.5, later with
 * `etcdutl`.
 */
const PROGRAMS = { kubectl: "kubectl", etcd: "etcd34", etcdctl: "etcdctl34" } as const;

/** The components that these commands need. */
export function componentsFor(commands: string): readonly (typeof PROGRAMS)[keyof typeof PROGRAMS][] {
  const called = Object.entries(PROGRAMS).filter(([name]) =>
    new RegExp(`^[^#\\n]*(?<![\\w/.-])${name} `, "m").test(commands),
  );
  return called.map(([, component]) => component);
}

/** Starts one stack for all pages, in a temporary folder. */
export async function startGuideEnvironment(): Promise<GuideEnvironment> {
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
  for (const [name, component] of Object.entries(PROGRAMS)) linkIfPresent(name, component, programs);
  const ports = await freePorts(OWN_PORTS.length);
  const placed = (script: string) =>
    OWN_PORTS.reduce(
      (text, port, index) => text.replaceAll(port, String(ports[index])),
      script.replaceAll(MAIN_ADDRESS, new URL(url).host),
    );
  return {
    url,
    managers: clusters.map(({ managerUrl }) => managerUrl),
    run: (script) =>
      runCommand("bash", ["-c", placed(script)], {
        cwd: folder,
        env: { PATH: pathWith(programs), HOME: folder, OAAS_PM_URL: url },
        timeoutMs: 200_000,
      }),
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

/** PATH with our commands and the Node of the tests first. */
function pathWith(programs: string): string {
  const own = [programs, path.dirname(process.execPath), path.join(ROOT, "node_modules", ".bin")];
  return [...own, process.env["PATH"] ?? ""].join(":");
}

/** Links a program under its usual name. */
function linkIfPresent(name: string, component: (typeof PROGRAMS)[keyof typeof PROGRAMS], folder: string): void {
  if (missingComponents([component]).length > 0) return; // Pages that need it are skipped; in CI they fail.
  const file = path.join(folder, name);
  writeFileSync(file, `#!/bin/sh\nexec "${componentFile(component)}" "$@"\n`);
  chmodSync(file, 0o755);
}
