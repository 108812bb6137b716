import { sleep, unavailable } from "@oaas/foundation";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { dataFolder, findStack, type StackHealth } from "./running-stack.ts";
import { printStack } from "./status.ts";

export interface UpFlags {
  readonly clusters?: number;
  readonly ports?: string;
  readonly data?: string;
  readonly context?: readonly string[];
  readonly real: boolean;
  readonly noCluster: boolean;
  readonly headless: boolean;
  readonly logs: boolean;
  readonly yes: boolean;
  readonly detach: boolean;
}

const POLL_MS = 200;
const TIMEOUT_MS = 300_000;

/** Starts the local stack in the foreground, or in the background with `--detach`. */
export async function up(session: Session, flags: UpFlags): Promise<ExitCode> {
  const stack = await import("../../adapters/local-stack.ts");
  const args = stackFlags(flags, session.format.as === "json");
  return flags.detach ? upDetached(session, flags, args) : ((await stack.runInForeground(args)) as ExitCode);
}

/** Translates the flags to those of the stack program. */
export function stackFlags(flags: UpFlags, isJson: boolean): readonly string[] {
  const { clusters, ports, data, context = [] } = flags;
  return [
    ...(clusters === undefined ? [] : [`--clusters=${clusters}`]),
    ...(ports === undefined ? [] : [`--ports=${ports}`]),
    ...(data === undefined ? [] : [`--data=${data}`]),
    ...context.map((name) => `--context=${name}`),
    ...(flags.real ? ["--real"] : []),
    ...(flags.noCluster ? ["--no-cluster"] : []),
    ...(flags.headless ? ["--headless"] : []),
    ...(flags.logs ? ["--logs"] : []),
    ...(flags.yes ? ["--yes"] : []),
    ...(isJson ? ["--output=json"] : []),
  ];
}

async function upDetached(session: Session, flags: UpFlags, args: readonly string[]): Promise<ExitCode> {
  const { environment } = session;
  const { runDetached } = await import("../../adapters/local-stack.ts");
  const dataDir = dataFolder(flags, environment);
  const outFile = `${dataDir}/up.out`;
  const detached = runDetached(args, outFile);
  const endsAt = environment.clock.monotonic() + TIMEOUT_MS;
  for (;;) {
    const health = await readHealth(session, dataDir, detached.pid);
    if (health !== undefined && health.status !== "starting") {
      printStack(session, dataDir, health);
      return health.status === "healthy" ? EXIT.done : EXIT.failed;
    }
    const code = detached.exitCode();
    if (code !== undefined) {
      environment.terminal.err((await environment.files.read(outFile)) ?? "");
      return EXIT.failed;
    }
    if (environment.clock.monotonic() > endsAt) {
      throw unavailable("the local stack", `the local stack is not ready yet; see oaas status and ${outFile}`);
    }
    await sleep(environment.timers, POLL_MS, environment.signal);
  }
}

async function readHealth(session: Session, dataDir: string, pid: number): Promise<StackHealth | undefined> {
  const stack = await findStack(session.environment, dataDir);
  return stack?.record.pid === pid ? stack.health() : undefined;
}
