import { isFault } from "@oaas/foundation";
import { validOf } from "../apply.ts";
import type { WishDocument } from "../documents/document.ts";
import { inOrder, readAll, unreadable } from "../documents/read-documents.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { foreseeAll } from "../foresee.ts";
import type { Session } from "../session/session.ts";

/** Validates files against the schema and, unless `--offline`, with a dry run on the package manager. */
export async function validateFiles(
  session: Session,
  flags: { readonly filename: readonly string[]; readonly offline: boolean },
): Promise<ExitCode> {
  const { documents, mistakes } = await readAll(session.world, flags.filename);
  if (mistakes.length > 0)
    session.world.terminal.err(`${session.colours.bad("error:")} ${unreadable(mistakes).message}\n`);
  const wellFormed = await validOf(session, documents);
  const { valid, code } = flags.offline
    ? { valid: wellFormed, code: EXIT.done }
    : await acceptedOf(session, inOrder(wellFormed));
  for (const { kind, name } of valid) session.doneOne({ kind, name, result: "is valid" });
  session.doneAll();
  return mistakes.length === 0 && wellFormed.length === documents.length ? code : EXIT.usage;
}

/** The documents that pass the dry run. */
async function acceptedOf(session: Session, documents: readonly WishDocument[]) {
  try {
    const { prospects, code } = await foreseeAll(session, documents);
    return { valid: prospects.map(({ document }) => document), code };
  } catch (thrown) {
    if (isFault(thrown, "unavailable"))
      session.note("Use --offline to check the schema only, without a package manager.\n");
    throw thrown;
  }
}
