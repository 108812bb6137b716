import { UsageError } from "../exit-code.ts";
import type { Session } from "./session.ts";

/** Asks before something is destroyed. Without a person to ask it must be said with `--yes`. */
export async function confirmed(session: Session, what: string, isSaid: boolean): Promise<boolean> {
  if (isSaid) return true;
  const { terminal } = session.world;
  if (!terminal.canAsk) throw new UsageError(`${what} needs a yes, and there is nobody to ask`, "repeat it with --yes");
  const answer = await terminal.ask(`${what}? [y/N] `);
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  session.note("Nothing was done.\n");
  return false;
}
