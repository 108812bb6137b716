import { Fault, isFault } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { diffValues, type Change } from "../../documents/changes.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { documentName, isRejectedSet, sendSet, type AppliedDocument } from "./document-set.ts";
import { dryRunExitCode } from "./rejection-text.ts";

/** The result of a dry run of one document. */
export interface DryRun {
  readonly document: ResourceDocument;
  readonly action: "create" | "update" | "nothing";
  readonly changes: readonly Change[];
  /** The revision that the package would get. */
  readonly revision?: number;
  /** The plan of the deployment. */
  readonly plan?: Reply<"createPlan">["value"];
}

/** The results of a dry run; after a rejection, of no document. */
export interface DryRunOutcome {
  readonly dryRuns: readonly DryRun[];
  /** Names of the rejected documents. */
  readonly rejected: ReadonlySet<string>;
  readonly code: ExitCode;
}

/**
 * Dry-runs documents as one set on the package manager, which accepts exactly the sets that `apply` accepts. Prints each
 * rejected document with the location of the invalid field.
 */
export async function dryRunAll(
  session: Session,
  documents: readonly ResourceDocument[],
  query: { readonly apply_deployments?: boolean } = {},
): Promise<DryRunOutcome> {
  const sent = await sendSet(session, documents, { ...query, dry_run: true });
  if (sent === undefined)
    throw new Fault(
      { kind: "unimplemented", feature: "dry runs of several documents" },
      "the package manager is older than this command and has no dry runs of sets; upgrade it",
    );
  if (isRejectedSet(sent)) return { dryRuns: [], rejected: sent.names, code: dryRunExitCode(sent.fault) };
  const results = new Map(sent.map((each) => [documentName(each), each]));
  const dryRuns = await Promise.all(
    documents.map((document) => toDryRun(session, document, results.get(documentName(document)))),
  );
  return { dryRuns, rejected: new Set(), code: EXIT.done };
}

const ACTIONS = { created: "create", updated: "update", unchanged: "nothing" } as const;

async function toDryRun(
  session: Session,
  document: ResourceDocument,
  result: AppliedDocument | undefined,
): Promise<DryRun> {
  const action = ACTIONS[result?.status ?? "unchanged"];
  if (document.kind === "deployment") {
    const changes = await deploymentChanges(session, document);
    return { document, action, changes, ...(result?.plan && action !== "nothing" ? { plan: result.plan } : {}) };
  }
  // Show a new package as a whole, the way it was written.
  const changes = action === "create" ? diffValues(undefined, document.content) : (result?.changes ?? []);
  return { document, action, changes, ...(result && { revision: result.revision }) };
}

/** The changes of the deployment as written. */
async function deploymentChanges(session: Session, document: ResourceDocument): Promise<readonly Change[]> {
  const { content } = document;
  const current = await readCurrent(session, document);
  return current
    ? diffValues(desiredFields(current.value), desiredFields(await withDefaults(content)))
    : diffValues(undefined, content);
}

/** The stored object with its ETag; undefined if it does not exist. */
export async function readCurrent(
  session: Session,
  { kind, name }: Pick<ResourceDocument, "kind" | "name">,
): Promise<{ readonly value: object; readonly etag: string | null } | undefined> {
  try {
    return kind === "package"
      ? await session.call("getPackage", { parameters: { name } })
      : await session.call("getDeployment", { parameters: { key: name } });
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}

/** The deployment with its defaults, in the shape of a response. */
async function withDefaults(content: ResourceDocument["content"]): Promise<object> {
  const { classDeploymentFromWire, classDeploymentToWire } = await import("@oaas/contracts/rest");
  const read = classDeploymentFromWire(content);
  // The shape requires a condition; the comparison ignores it.
  return read.ok ? classDeploymentToWire({ deployment: read.value, condition: "pending" }) : content;
}

/** Fields that the package manager adds; they are not part of the desired state. */
const SERVER_FIELDS = new Set(["created_at", "updated_at", "condition", "status"]);

function desiredFields(value: object): object {
  return Object.fromEntries(
    Object.entries(value).filter(([name, member]) => !SERVER_FIELDS.has(name) && member !== undefined),
  );
}
