import { isFault } from "@oaas/foundation";
import { pluralOf } from "../../command/kinds.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { confirm, type Session } from "../../session/session.ts";
import { missingObjects } from "./read-objects.ts";
import { parseTargets, type ObjectReference } from "../../command/targets.ts";

export interface DeleteFlags {
  readonly filename?: readonly string[];
  readonly cascade: boolean;
  readonly cluster?: string;
  readonly ignoreNotFound: boolean;
  readonly yes: boolean;
}

/** Deletes the objects in files (`-f`), or named ones (`KIND NAME`, `KIND/NAME`), after one confirmation. */
export async function deleteObjects(
  session: Session,
  flags: DeleteFlags,
  ...args: readonly string[]
): Promise<ExitCode> {
  if (flags.filename !== undefined) {
    if (args.length > 0) throw new UsageError("files and names cannot be combined", "use -f FILE, or KIND NAME");
    const { deleteFiles } = await import("../files/delete-files.ts");
    return deleteFiles(session, { ...flags, filename: flags.filename });
  }
  if (args.length === 0) throw new UsageError("nothing to delete was given", "use -f FILE, or KIND NAME");
  const targets = parseTargets(args);
  if (targets.of === "kinds")
    throw new UsageError(`no ${targets.kinds[0] ?? "object"} given`, "name what to delete: KIND NAME or KIND/NAME");
  for (const { kind } of targets.objects) if (!(kind in DELETIONS)) throw cannotDelete(kind);
  const names = targets.objects.map(({ kind, name }) => `${kind}/${name}`).join(", ");
  const where = flags.cluster === undefined ? "" : ` from ${flags.cluster}`;
  if (!(await confirm(session, `Delete ${names}${where}`, flags.yes))) return EXIT.failed;
  const missing: ObjectReference[] = [];
  for (const object of targets.objects) {
    try {
      const result = await DELETIONS[object.kind as DeletedKind](session, object.name, flags);
      session.recordOutcome({ ...object, result });
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
      missing.push(object);
    }
  }
  session.printRecorded();
  // Without the nearest name: a deletion must not lead to another object.
  if (missing.length > 0 && !flags.ignoreNotFound) throw await missingObjects(session, missing, { isSuggested: false });
  return EXIT.done;
}

type DeletedKind = "package" | "deployment" | "cluster";

/** Deletes one object and returns the result to print. */
const DELETIONS: Readonly<
  Record<DeletedKind, (session: Session, name: string, flags: DeleteFlags) => Promise<string>>
> = {
  package: async (session, name, { cascade }) => {
    const query = { cascade: cascade ? true : undefined };
    const { status } = await session.call("deletePackage", { parameters: { name }, query });
    return status === 202 ? "is being deleted with its deployments" : "deleted";
  },
  deployment: async (session, key, { cluster }) => {
    const { value } = await session.call("deleteDeployment", { parameters: { key }, query: { cluster } });
    const pending = "pending_envs" in value ? (value.pending_envs ?? []) : [];
    if (pending.length > 0) return `deleted; ${pending.join(", ")} follows when it is reachable again`;
    return "status_url" in value ? "is being deleted" : "deleted";
  },
  cluster: async (session, name) => {
    await session.call("removeCluster", { parameters: { name } });
    return "removed";
  },
};

function cannotDelete(kind: ObjectReference["kind"]): UsageError {
  const fixes: Readonly<Record<string, string>> = {
    class: "remove it from its package and apply the package",
    function: "remove it from its package and apply the package",
    "class-runtime":
      "delete its deployment, or remove it from one cluster: oaas delete deployment NAME --cluster CLUSTER",
    context: "use oaas context remove NAME",
    event: "events are streamed, not stored",
  };
  return new UsageError(`${pluralOf(kind)} cannot be deleted by name`, fixes[kind]);
}
