import { UsageError } from "../exit-code.ts";
import { confirmed } from "../session/confirm.ts";
import type { Session } from "../session/session.ts";
import { dataDirOf, findStack } from "../stack/running-stack.ts";
import { stopStack } from "./down.ts";

/** Stops the local stack and deletes its data. Other files in the folder stay. */
export async function reset(session: Session, flags: { readonly data?: string; readonly yes: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags, session.world);
  const { removeStackData, stackData } = await import("../adapters/local-stack.ts");
  const entries = await stackData(dataDir);
  if (entries === undefined || entries.length === 0) {
    session.note(`No local stack data in ${dataDir}.\n`);
    return;
  }
  if (!entries.some((entry) => entry.startsWith("store.sqlite"))) {
    throw new UsageError(`${dataDir} is not a data folder of a local stack`, "check --data");
  }
  const running = await (await findStack(session.world, dataDir))?.health();
  const what = `${running === undefined ? "Delete" : "Stop the local stack and delete"} all its data in ${dataDir}`;
  if (!(await confirmed(session, what, flags.yes))) return;
  await stopStack(session, dataDir);
  await removeStackData(dataDir);
  session.note(`Deleted the local stack data in ${dataDir}. The next oaas up starts with an empty store.\n`);
}
