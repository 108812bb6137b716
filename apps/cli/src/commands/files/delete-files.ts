import { isFault } from "@oaas/foundation";
import { sortByDependency, readDocuments } from "../../documents/read-documents.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { confirm, type Session } from "../../session/session.ts";

/** Deletes the objects in files, deployments before packages. A missing object is not an error. */
export async function deleteFiles(
  session: Session,
  flags: { readonly filename: readonly string[]; readonly cascade: boolean; readonly yes: boolean },
): Promise<ExitCode> {
  const documents = [...sortByDependency(await readDocuments(session.environment, flags.filename))].reverse();
  const names = documents.map(({ kind, name }) => `${kind}/${name}`);
  if (!(await confirm(session, `Delete ${names.join(", ")}`, flags.yes))) return EXIT.failed;
  for (const { kind, name } of documents) {
    const query = { cascade: flags.cascade ? true : undefined };
    try {
      if (kind === "deployment") await session.call("deleteDeployment", { parameters: { key: name } });
      else await session.call("deletePackage", { parameters: { name }, query });
      session.recordOutcome({ kind, name, result: "deleted" });
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      session.recordOutcome({ kind, name, result: "was not there" }, `${kind}/${name} not found\n`);
    }
  }
  session.printRecorded();
  return EXIT.done;
}
