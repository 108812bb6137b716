import { Fault } from "@oaas/foundation";
import type { WishDocument } from "./documents/document.ts";
import type { Schemas } from "./documents/json-schema.ts";
import { unknownFields } from "./documents/unknown-fields.ts";
import { faultText } from "./output/fault-text.ts";
import type { Session } from "./session/session.ts";
import { changesBetween, type Change } from "./documents/changes.ts";
import { EXIT, exitCodeOf, type ExitCode } from "./exit-code.ts";

/** What applying a document would do. */
export interface Prospect {
  readonly document: WishDocument;
  readonly action: "create" | "update" | "nothing";
  readonly changes: readonly Change[];
  /** The version that was looked at, so that a change in between is noticed. */
  readonly etag: string | null;
}

/** Those documents that keep the contract; everything that is wrong in the others is told, with file, line and column. */
export async function validOf(session: Session, documents: readonly WishDocument[]): Promise<readonly WishDocument[]> {
  const { packageFromWire, classDeploymentFromWire, openApiDocument } = await import("@oaas/contracts/rest");
  const { schemas } = openApiDocument("").components as unknown as { readonly schemas: Schemas };
  return documents.filter((document) => {
    const read =
      document.kind === "package" ? packageFromWire(document.content) : classDeploymentFromWire(document.content);
    const violations = [...unknownFields(document.kind, document.content, schemas), ...(read.ok ? [] : read.error)];
    if (violations.length === 0) return true;
    const fault = new Fault({ kind: "invalid-argument", violations }, `${document.kind} ${document.name} is not valid`);
    session.world.terminal.err(faultText(fault, session.colours, { placed: placedIn(document) }));
    return false;
  });
}

const placedIn =
  (document: WishDocument) =>
  (path: string): string =>
    `${document.placeOf(path)} ${path}`;

/** Compares a document with what the platform has. */
export async function prospectOf(session: Session, document: WishDocument): Promise<Prospect> {
  const live = await liveOf(session, document);
  if (!live) return { document, action: "create", changes: changesBetween(undefined, document.content), etag: null };
  const wished = await normalised(document);
  const changes = changesBetween(comparable(live.value), comparable(wished));
  return { document, action: changes.length === 0 ? "nothing" : "update", changes, etag: live.etag };
}

async function liveOf(
  session: Session,
  { kind, name }: WishDocument,
): Promise<{ value: object; etag: string | null } | undefined> {
  try {
    return kind === "package"
      ? await session.call("getPackage", { parameters: { name } })
      : await session.call("getDeployment", { parameters: { key: name } });
  } catch (thrown) {
    if (thrown instanceof Fault && thrown.kind === "not-found") return undefined;
    throw thrown;
  }
}

/** The document with its defaults, in the form in which the platform answers. */
async function normalised({ kind, content }: WishDocument): Promise<object> {
  const contract = await import("@oaas/contracts/rest");
  if (kind === "package") {
    const read = contract.packageFromWire(content);
    return read.ok ? contract.packageToWire(read.value) : content;
  }
  const read = contract.classDeploymentFromWire(content);
  // Its condition says nothing about the wish, and is left out of the comparison; the form has a place for it.
  return read.ok ? contract.classDeploymentToWire({ deployment: read.value, condition: "pending" }) : content;
}

/** What the platform adds says nothing about the wish. */
const ADDED = new Set(["created_at", "updated_at", "condition", "status", "deployments"]);

function comparable(value: object): object {
  const entries = Object.entries(value).filter(([name, member]) => !ADDED.has(name) && member !== undefined);
  return Object.fromEntries(
    entries.map(([name, member]) => [name, name === "metadata" ? comparable(member as object) : (member as unknown)]),
  );
}

/** Carries one document out; tells what became of it. */
export async function applyDocument(
  session: Session,
  { document, action, etag }: Prospect,
  how: { readonly reason?: string; readonly applyDeployments?: boolean },
): Promise<ExitCode> {
  const { kind, name, content } = document;
  const query = {
    reason: how.reason,
    ...(kind === "package" && how.applyDeployments === true ? { apply_deployments: true } : {}),
  };
  const headers = etag === null ? {} : { "if-match": etag };
  try {
    const { value } =
      kind === "deployment"
        ? await session.call("putDeployment", { parameters: { key: name }, body: content, query, headers })
        : action === "create"
          ? await session.call("createPackage", { body: content, query })
          : await session.call("updatePackage", { parameters: { name }, body: content, query, headers });
    session.doneOne({ kind, name, result: value.status, message: value.message });
    return EXIT.done;
  } catch (thrown) {
    const fault = Fault.from(thrown);
    const remedy = await session.remedyOf(fault);
    session.world.terminal.err(faultText(fault, session.colours, { placed: placedIn(document), remedy }));
    session.doneOne({ kind, name, result: "failed", code: fault.code, message: fault.message }, "");
    return exitCodeOf(fault);
  }
}
