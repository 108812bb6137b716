import { UsageError } from "../exit-code.ts";
import { confirmed } from "../session/confirm.ts";
import type { Session } from "../session/session.ts";
import { dataDirOf, findStack } from "../stack/running-stack.ts";
import { stopStack } from "./down.ts";

/** Forgets everything the local stack keeps: it is stopped first, and its data is removed. Files of others in the folder stay. */
export async function reset(session: Session, flags: { readonly data?: string; readonly yes: boolean }): Promise<void> {
  const dataDir = dataDirOf(flags, session.world);
  const { removeStackData, stackData } = await import("../adapters/local-stack.ts");
  const entries = await stackData(dataDir);
  if (entries === undefined || entries.length === 0) {
    session.note(`There is nothing of a local stack in ${dataDir}.\n`);
    return;
  }
  if (!entries.some((entry) => entry.startsWith("store.sqlite"))) {
    throw new UsageError(`${dataDir} is no data folder of a local stack`, "check --data");
  }
  const running = await (await findStack(session.world, dataDir))?.health();
  const what = `${running === undefined ? "Delete" : "Stop the local stack and delete"} everything it keeps in ${dataDir}`;
  if (!(await confirmed(session, what, flags.yes))) return;
  await stopStack(session, dataDir);
  await removeStackData(dataDir);
  session.note(`The data of the local stack in ${dataDir} is deleted; oaas up begins anew.\n`);
}
