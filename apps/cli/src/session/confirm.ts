import { UsageError } from "../exit-code.ts";
import type { Session } from "./session.ts";

/** Asks for confirmation of a destructive action. Without a terminal, `--yes` is required. */
export async function confirmed(session: Session, what: string, isSaid: boolean): Promise<boolean> {
  if (isSaid) return true;
  const { terminal } = session.world;
  if (!terminal.canAsk)
    throw new UsageError(
      `"${what}" needs confirmation and there is no terminal to prompt on`,
      "repeat the command with --yes",
    );
  const answer = await terminal.ask(`${what}? [y/N] `);
  if (/^y(?:es)?$/i.test(answer.trim())) return true;
  session.note("Cancelled.\n");
  return false;
}
