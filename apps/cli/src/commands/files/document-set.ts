import type { Fault } from "@oaas/foundation";
import { isFault } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import type { ResourceDocument } from "../../documents/document.ts";
import type { Session } from "../../session/session.ts";
import { rejectionText } from "./rejection-text.ts";

export type AppliedDocument = Reply<"applyDocuments">["value"]["documents"][number];

/** The query parameters of a set. */
export interface SetQuery {
  readonly dry_run?: boolean;
  readonly reason?: string | undefined;
  readonly apply_deployments?: boolean;
  readonly field_validation?: string | undefined;
}

/** The rejections of a set: nothing was written. */
export interface RejectedSet {
  readonly fault: Fault;
  /** Names of the rejected documents, such as `deployment/shop-order`. */
  readonly names: ReadonlySet<string>;
}

/**
 * Sends documents as one set, which is applied as a whole or not at all. Prints each rejected document with the location of
 * the invalid field. Returns undefined if the package manager is older and has no sets.
 */
export async function sendSet(
  session: Session,
  documents: readonly ResourceDocument[],
  query: SetQuery,
): Promise<readonly AppliedDocument[] | RejectedSet | undefined> {
  const body = { documents: documents.map(({ kind, content }) => ({ [kind]: content })) };
  try {
    return (await session.call("applyDocuments", { body, query: { ...query } })).value.documents;
  } catch (thrown) {
    if (isFault(thrown, "not-found") || isFault(thrown, "unimplemented")) return undefined;
    if (!isFault(thrown, "partial-failure") || thrown.code !== "OAAS_DOCUMENTS_REJECTED") throw thrown;
    const { parts } = thrown.detail;
    for (const { name, fault } of parts)
      session.environment.terminal.err(await partText(session, documents, name, fault));
    return { fault: parts[0]?.fault ?? thrown, names: new Set(parts.map(({ name }) => name)) };
  }
}

export function isRejectedSet(sent: readonly AppliedDocument[] | RejectedSet): sent is RejectedSet {
  return "names" in sent;
}

/** `deployment/shop-order`. */
export function documentName({ kind, name }: Pick<ResourceDocument, "kind" | "name">): string {
  return `${kind}/${name}`;
}

/** A deployment inside a package has no document of its own. */
async function partText(
  session: Session,
  documents: readonly ResourceDocument[],
  name: string,
  fault: Fault,
): Promise<string> {
  const document = documents.find((each) => documentName(each) === name);
  if (document !== undefined) return rejectionText(session, document, fault);
  return session.formatFault(fault.with({ message: `${name}: ${fault.message}` }));
}
