import { isFault } from "@oaas/foundation";
import { inOrder, readDocuments } from "../documents/read-documents.ts";
import { EXIT, type ExitCode } from "../exit-code.ts";
import { confirmed } from "../session/confirm.ts";
import type { Session } from "../session/session.ts";

/** Deletes the objects in files, deployments before packages. A missing object is not an error. */
export async function deleteFiles(
  session: Session,
  flags: { readonly filename: readonly string[]; readonly cascade: boolean; readonly yes: boolean },
): Promise<ExitCode> {
  const documents = [...inOrder(await readDocuments(session.world, flags.filename))].reverse();
  const names = documents.map(({ kind, name }) => `${kind}/${name}`);
  if (!(await confirmed(session, `Delete ${names.join(", ")}`, flags.yes))) return EXIT.failed;
  for (const { kind, name } of documents) {
    const query = { cascade: flags.cascade ? true : undefined };
    try {
      if (kind === "deployment") await session.call("deleteDeployment", { parameters: { key: name } });
      else await session.call("deletePackage", { parameters: { name }, query });
      session.doneOne({ kind, name, result: "deleted" });
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      session.doneOne({ kind, name, result: "was not there" }, `${kind}/${name} not found\n`);
    }
  }
  session.doneAll();
  return EXIT.done;
}
