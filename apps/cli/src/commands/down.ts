import { sleep, unavailable } from "@oaas/foundation";
import type { Session } from "../session/session.ts";
import { dataDirOf, findStack } from "../stack/running-stack.ts";

const POLL_MS = 100;
const PATIENCE_MS = 60_000;

/** Stops the local stack in order and waits for its end; what it holds is found again by the next start. */
export async function down(session: Session, flags: { readonly data?: string }): Promise<void> {
  const dataDir = dataDirOf(flags, session.world);
  const pid = await stopStack(session, dataDir);
  session.note(
    pid === undefined ? `No local stack runs on ${dataDir}.\n` : `The local stack (process ${pid}) stopped.\n`,
  );
}

/** Stops the stack of a data folder, if there is one; answers which process it was. */
export async function stopStack(session: Session, dataDir: string): Promise<number | undefined> {
  const { world } = session;
  const { isAlive } = await import("../adapters/local-stack.ts");
  const stack = await findStack(world, dataDir);
  if (stack === undefined || !isAlive(stack.record.pid)) return undefined;
  const { pid } = stack.record;
  if ((await stack.health()) === undefined) {
    throw unavailable(
      "the local stack",
      `process ${pid} left word in ${dataDir} and does not answer; if it is the local stack, end it: kill ${pid}`,
    );
  }
  await stack.stop();
  const endsAt = world.clock.monotonic() + PATIENCE_MS;
  while (isAlive(pid)) {
    if (world.clock.monotonic() > endsAt) {
      throw unavailable("the local stack", `process ${pid} has not stopped after ${PATIENCE_MS / 1000} s`);
    }
    await sleep(world.timers, POLL_MS, world.signal);
  }
  return pid;
}
