import { readFile } from "node:fs/promises";
import path from "node:path";
import { runCommand, startProcess, untilReady, type CommandResult, type ProcessUnderTest } from "@oaas/testkit";
import { sendRequest, type Answer, type CallOptions } from "./running-pm.ts";

const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");

/** One line of the log; audit lines have no level. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The package manager as a separate process. */
export interface PmProcess extends AsyncDisposable {
  readonly url: string;
  readonly process: ProcessUnderTest;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  log(): Promise<readonly LogLine[]>;
  /** Stops it gracefully; resolves with its exit code. */
  stop(): Promise<number | null>;
}

export interface PmProcessOptions {
  /** The working folder, also of the log. */
  readonly folder: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than `main.ts`. */
  readonly program?: string;
}

/** Starts it on a free loopback port and waits until it listens. */
export async function runPm({ folder, env = {}, program = MAIN }: PmProcessOptions): Promise<PmProcess> {
  const logFile = path.join(folder, `pm-${crypto.randomUUID()}.log`);
  const running = await startProcess({
    name: "pm",
    command: process.execPath,
    args: [program],
    cwd: folder,
    logFile,
    env: { SERVER_PORT: "0", SERVER_RATE_LIMIT: "100000", SERVER_RATE_BURST: "100000", LOG_LEVEL: "info", ...env },
  });
  const log = async (): Promise<readonly LogLine[]> => {
    const text = await readFile(logFile, "utf8").catch(() => "");
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    const objects = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
    return objects.filter(({ level }) => level !== undefined);
  };
  let port: unknown;
  await untilReady(running, async () => {
    port = (await log()).find(({ message }) => message === "package manager listening")?.["port"];
    return port !== undefined;
  });
  const url = `http://127.0.0.1:${String(port)}`;
  return {
    url,
    process: running,
    call: (method, target, options) => sendRequest(url, method, target, options),
    log,
    stop: async () => (await running.stop(30_000)).code,
    [Symbol.asyncDispose]: async () => void (await running.stop(0)),
  };
}

/** Runs it until it exits: for failed starts and command line options. */
export function pmCommand(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  return runCommand(process.execPath, [MAIN, ...args], {
    cwd: folder,
    env: { SERVER_PORT: "0", ...env },
    timeoutMs: 100_000,
  });
}
