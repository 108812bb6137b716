import { sleep, unavailable } from "@oaas/foundation";
import { UsageError } from "../../exit-code.ts";
import { confirm, type Session } from "../../session/session.ts";
import { dataFolder, findStack } from "./running-stack.ts";

const POLL_MS = 100;
const TIMEOUT_MS = 60_000;

/** Stops the local stack gracefully and waits for its process to exit. The data stays. */
export async function down(session: Session, flags: { readonly data?: string }): Promise<void> {
  const dataDir = dataFolder(flags, session.environment);
  const pid = await stopStack(session, dataDir);
  session.printNote(
    pid === undefined
      ? `No local stack is running with data folder ${dataDir}.\n`
      : `Stopped the local stack (process ${pid}).\n`,
  );
}

/** Stops the local stack and deletes its data. Other files in the folder stay. */
export async function reset(session: Session, flags: { readonly data?: string; readonly yes: boolean }): Promise<void> {
  const dataDir = dataFolder(flags, session.environment);
  const { removeStackData, listStackData: stackData } = await import("../../adapters/local-stack.ts");
  const entries = await stackData(dataDir);
  if (entries === undefined || entries.length === 0) {
    session.printNote(`No local stack data in ${dataDir}.\n`);
    return;
  }
  if (!entries.some((entry) => entry.startsWith("store.sqlite"))) {
    throw new UsageError(`${dataDir} is not a data folder of a local stack`, "check --data");
  }
  const running = await (await findStack(session.environment, dataDir))?.health();
  const what = `${running === undefined ? "Delete" : "Stop the local stack and delete"} all its data in ${dataDir}`;
  if (!(await confirm(session, what, flags.yes))) return;
  await stopStack(session, dataDir);
  await removeStackData(dataDir);
  session.printNote(`Deleted the local stack data in ${dataDir}. The next oaas up starts with an empty store.\n`);
}

/** Stops the stack of a data folder and returns its process id; undefined if none is running. */
async function stopStack(session: Session, dataDir: string): Promise<number | undefined> {
  const { environment } = session;
  const { isAlive } = await import("../../adapters/local-stack.ts");
  const stack = await findStack(environment, dataDir);
  if (stack === undefined || !isAlive(stack.record.pid)) return undefined;
  const { pid } = stack.record;
  if ((await stack.health()) === undefined) {
    throw unavailable(
      "the local stack",
      `process ${pid}, recorded in ${dataDir}, does not respond; if it is the local stack, stop it with: kill ${pid}`,
    );
  }
  await stack.stop();
  const endsAt = environment.clock.monotonic() + TIMEOUT_MS;
  while (isAlive(pid)) {
    if (environment.clock.monotonic() > endsAt) {
      throw unavailable("the local stack", `process ${pid} did not stop within ${TIMEOUT_MS / 1000} s`);
    }
    await sleep(environment.timers, POLL_MS, environment.signal);
  }
  return pid;
}
