import { sleep, unavailable } from "@oaas/foundation";
import { EXIT, type ExitCode } from "../exit-code.ts";
import type { Session } from "../session/session.ts";
import { dataDirOf, findStack, type StackHealth } from "../stack/running-stack.ts";
import { showStack } from "./stack-status.ts";

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
const PATIENCE_MS = 300_000;

/** Starts the local stack in the foreground, or in the background with `--detach`. */
export async function up(session: Session, flags: UpFlags): Promise<ExitCode> {
  const stack = await import("../adapters/local-stack.ts");
  const args = stackFlags(flags, session.format.as === "json");
  return flags.detach ? upDetached(session, flags, args) : ((await stack.runHere(args)) as ExitCode);
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
  const { world } = session;
  const { runDetached } = await import("../adapters/local-stack.ts");
  const dataDir = dataDirOf(flags, world);
  const outFile = `${dataDir}/up.out`;
  const detached = runDetached(args, outFile);
  const endsAt = world.clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const health = await healthOf(session, dataDir, detached.pid);
    if (health !== undefined && health.status !== "starting") {
      showStack(session, dataDir, health);
      return health.status === "healthy" ? EXIT.done : EXIT.failed;
    }
    const code = detached.ended();
    if (code !== undefined) {
      world.terminal.err((await world.files.read(outFile)) ?? "");
      return EXIT.failed;
    }
    if (world.clock.monotonic() > endsAt) {
      throw unavailable("the local stack", `the local stack is not ready yet; see oaas status and ${outFile}`);
    }
    await sleep(world.timers, POLL_MS, world.signal);
  }
}

async function healthOf(session: Session, dataDir: string, pid: number): Promise<StackHealth | undefined> {
  const stack = await findStack(session.world, dataDir);
  return stack?.record.pid === pid ? stack.health() : undefined;
}
