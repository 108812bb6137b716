import { sleep, unavailable } from "@oaas/foundation";
import type { Session } from "../session/session.ts";
import { dataDirOf, findStack } from "../stack/running-stack.ts";

const POLL_MS = 100;
const PATIENCE_MS = 60_000;

/** Stops the local stack gracefully and waits for its process to exit. The data stays. */
export async function down(session: Session, flags: { readonly data?: string }): Promise<void> {
  const dataDir = dataDirOf(flags, session.world);
  const pid = await stopStack(session, dataDir);
  session.note(
    pid === undefined
      ? `No local stack is running with data folder ${dataDir}.\n`
      : `Stopped the local stack (process ${pid}).\n`,
  );
}

/** Stops the stack of a data folder and returns its process id; undefined if none is running. */
export async function stopStack(session: Session, dataDir: string): Promise<number | undefined> {
  const { world } = session;
  const { isAlive } = await import("../adapters/local-stack.ts");
  const stack = await findStack(world, dataDir);
  if (stack === undefined || !isAlive(stack.record.pid)) return undefined;
  const { pid } = stack.record;
  if ((await stack.health()) === undefined) {
    throw unavailable(
      "the local stack",
      `process ${pid}, recorded in ${dataDir}, does not respond; if it is the local stack, stop it with: kill ${pid}`,
    );
  }
  await stack.stop();
  const endsAt = world.clock.monotonic() + PATIENCE_MS;
  while (isAlive(pid)) {
    if (world.clock.monotonic() > endsAt) {
      throw unavailable("the local stack", `process ${pid} did not stop within ${PATIENCE_MS / 1000} s`);
    }
    await sleep(world.timers, POLL_MS, world.signal);
  }
  return pid;
}
