import { isFault } from "@oaas/foundation";
import { sortByDependency, readDocuments } from "../../documents/read-documents.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { waitForDeletion } from "../observe/wait.ts";
import { confirm, type Session } from "../../session/session.ts";

/** How long to wait for a cluster that has not removed a deployment yet; its package cannot be deleted before. */
const PENDING_MS = 120_000;

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
      if (kind === "package") await session.call("deletePackage", { parameters: { name }, query });
      else if (await isDeletionPending(session, name)) await waitForDeletion(session, name, PENDING_MS);
      session.recordOutcome({ kind, name, result: "deleted" });
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      session.recordOutcome({ kind, name, result: "was not there" }, `${kind}/${name} not found\n`);
    }
  }
  session.printRecorded();
  return EXIT.done;
}

/** Deletes a deployment; whether clusters still have to remove it. */
async function isDeletionPending(session: Session, key: string): Promise<boolean> {
  const { value } = await session.call("deleteDeployment", { parameters: { key } });
  return "status_url" in value || (value.pending_envs ?? []).length > 0;
}
