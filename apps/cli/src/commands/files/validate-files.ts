import { isFault } from "@oaas/foundation";
import { filterValid } from "./apply-document.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { sortByDependency, readSources, parseFailure } from "../../documents/read-documents.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { documentName } from "./document-set.ts";
import { dryRunAll } from "./dry-run.ts";
import type { Session } from "../../session/session.ts";

/** Validates files against the schema and, unless `--offline`, with a dry run on the package manager. */
export async function validateFiles(
  session: Session,
  flags: { readonly filename: readonly string[]; readonly offline: boolean },
): Promise<ExitCode> {
  const { documents, errors } = await readSources(session.environment, flags.filename);
  if (errors.length > 0) session.printUsageError(parseFailure(errors));
  const wellFormed = await filterValid(session, documents);
  const { valid, code } = flags.offline
    ? { valid: wellFormed, code: EXIT.done }
    : await filterAccepted(session, sortByDependency(wellFormed));
  for (const { kind, name } of valid) session.recordOutcome({ kind, name, result: "is valid" });
  session.printRecorded();
  return errors.length === 0 && wellFormed.length === documents.length ? code : EXIT.usage;
}

/** The documents that pass the dry run. */
async function filterAccepted(session: Session, documents: readonly ResourceDocument[]) {
  try {
    const { rejected, code } = await dryRunAll(session, documents);
    return { valid: documents.filter((each) => !isAffected(each, rejected)), code };
  } catch (thrown) {
    if (isFault(thrown, "unavailable"))
      session.printNote("Use --offline to check the schema only, without a package manager.\n");
    throw thrown;
  }
}

/** Whether a document was rejected, or not checked because the package of the deployment was. */
function isAffected(document: ResourceDocument, rejected: ReadonlySet<string>): boolean {
  const packageName = document.kind === "deployment" ? String(document.content["package_name"]) : document.name;
  return rejected.has(documentName(document)) || rejected.has(`package/${packageName}`);
}
