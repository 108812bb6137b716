import { readFile } from "node:fs/promises";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { RpcChannel, type ChannelTls } from "@oaas/rpc";
import { startProcess, untilReady, type ProcessUnderTest } from "@oaas/testkit";

/** The entry point of the manager. */
export const MAIN = path.resolve(import.meta.dirname, "..", "..", "src", "main.ts");

/** One line of the manager's log. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

/** The manager as a process, configured by its environment. */
export interface ManagerProcess {
  readonly port: number;
  readonly channel: RpcChannel;
  readonly process: ProcessUnderTest;
  log(): Promise<readonly LogLine[]>;
  /** Stops it gracefully; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts a manager on a free port and waits until it listens. Its log goes to a file in `folder`. */
export async function startManagerProcess(
  kubeconfig: string,
  folder: string,
  env: Readonly<Record<string, string>> = {},
  tls?: ChannelTls,
): Promise<ManagerProcess> {
  const logFile = path.join(folder, `crm-${crypto.randomUUID()}.log`);
  const manager = await startProcess({
    name: "crm",
    command: process.execPath,
    args: [MAIN],
    cwd: folder,
    logFile,
    env: {
      KUBECONFIG: kubeconfig,
      HTTP_PORT: "0",
      OPRC_CRM_HTTP_HOST: "127.0.0.1",
      OPRC_CRM_TEMPLATES_ODGM_IMAGE: "example.test/odgm:1",
      // No store runs behind the pods.
      OPRC_CRM_ODGM_HEALTH: "false",
      LOG_LEVEL: "info",
      ...env,
    },
  });
  const log = async (): Promise<readonly LogLine[]> => {
    const text = await readFile(logFile, "utf8").catch(() => "");
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as LogLine);
  };
  let listening: LogLine | undefined;
  await untilReady(manager, async () => {
    listening = (await log()).find(({ message }) => message.endsWith("listening"));
    return listening !== undefined;
  });
  const port = Number(listening?.["port"]);
  const channel = new RpcChannel({
    name: "crm",
    address: `localhost:${port}`,
    clock: realAmbient.clock,
    ...(tls ? { tls } : {}),
  });
  return {
    port,
    channel,
    process: manager,
    log,
    stop: async () => {
      channel.close();
      return (await manager.stop(60_000)).code;
    },
  };
}
