import { Fault, invalidArgument, isFault, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { changesBetween, type Change } from "./documents/changes.ts";
import type { WishDocument } from "./documents/document.ts";
import { nearestName } from "./documents/nearest-name.ts";
import { dependenciesOf } from "./documents/read-documents.ts";
import { EXIT, exitCodeOf, type ExitCode } from "./exit-code.ts";
import { faultText } from "./output/fault-text.ts";
import type { Session } from "./session/session.ts";

/** The result of a dry run of one document. */
export interface Prospect {
  readonly document: WishDocument;
  readonly action: "create" | "update" | "nothing";
  readonly changes: readonly Change[];
  /** The version that was compared, to detect a concurrent change on apply. */
  readonly etag: string | null;
  /** The revision that the package would get. */
  readonly revision?: number;
  /** The plan of the deployment. */
  readonly plan?: Reply<"createPlan">["value"];
  /** What a dry run cannot check. */
  readonly unknown?: string;
}

/** Faults that concern one document; any other fault ends the whole run. */
const REFUSALS: ReadonlySet<Fault["kind"]> = new Set([
  "invalid-argument",
  "failed-precondition",
  "not-found",
  "already-exists",
  "conflict",
]);

/**
 * Dry-runs documents on the package manager, in the order in which they would be applied. Prints each rejected document
 * with the location of the invalid field.
 */
export async function foreseeAll(
  session: Session,
  documents: readonly WishDocument[],
): Promise<{ readonly prospects: readonly Prospect[]; readonly code: ExitCode }> {
  const prospects: Prospect[] = [];
  let code: ExitCode = EXIT.done;
  for (const [index, document] of documents.entries()) {
    const before = documents.slice(0, index).filter(({ kind }) => kind === "package");
    try {
      prospects.push(
        document.kind === "package"
          ? await foreseePackage(session, document, before)
          : await foreseeDeployment(session, document, { before, prospects }),
      );
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!REFUSALS.has(fault.kind)) throw fault;
      session.world.terminal.err(await refusalText(session, document, fault));
      code = code === EXIT.done ? codeOf(fault) : code;
    }
  }
  return { prospects, code };
}

/** Formats the rejection of a document with the location of each field in its file. */
export async function refusalText(session: Session, document: WishDocument, fault: Fault): Promise<string> {
  // A plan request nests the deployment in `$.deployment`.
  const placed = (path: string): string => {
    const own = path.replace(/^\$\.deployment(?=$|[.[])/, ROOT_PATH);
    return own.startsWith("$.what_if")
      ? (ASSUMED[own.split(/[.[]/)[2] ?? ""] ?? own)
      : `${document.placeOf(own)} ${own}`;
  };
  const remedy = await session.remedyOf(fault);
  return faultText(withPlace(fault, document), session.colours, { placed, remedy });
}

/** The flag for each what-if field of a plan request. */
const ASSUMED: Readonly<Record<string, string>> = {
  clusters_down: "--cluster-down",
  availability: "--availability",
  package_revision: "--revision",
};

/** Turns a missing package into a violation of the field that names it. */
function withPlace(fault: Fault, { kind, content }: WishDocument): Fault {
  const { detail } = fault;
  if (kind !== "deployment" || detail.kind !== "not-found" || detail.resource !== "package") return fault;
  if (detail.name !== content["package_name"]) return fault;
  const violation = {
    path: "$.package_name",
    message: "package does not exist",
    fix: "apply it first, or use another package",
  };
  return fault.with({ detail: { kind: "invalid-argument", violations: [violation] } });
}

/** The exit code of a rejected dry run: nothing was written, so a failure is a usage error. */
export function codeOf(fault: Fault): ExitCode {
  const code = exitCodeOf(fault);
  return code === EXIT.failed ? EXIT.usage : code;
}

async function foreseePackage(
  session: Session,
  document: WishDocument,
  before: readonly WishDocument[],
): Promise<Prospect> {
  const { content } = document;
  try {
    return await rehearsed(session, document, content);
  } catch (thrown) {
    const coming = isFault(thrown, "invalid-argument") ? await comingOf(session, document, thrown, before) : [];
    if (coming.length === 0) throw thrown;
    const dependencies = dependenciesOf(document).filter((name) => !coming.includes(name));
    const rest = await rehearsed(session, document, { ...content, dependencies });
    const added = coming.map((name) => ({ path: pathOf(ROOT_PATH, "dependencies", name), after: name }));
    return {
      ...rest,
      ...(rest.action === "create" ? {} : { action: "update", changes: [...rest.changes, ...added] }),
      unknown: `The dependency on ${coming.join(", ")} is checked after that package is applied.`,
    };
  }
}

/** Dependencies that do not exist yet and are applied before this document. */
async function comingOf(
  session: Session,
  document: WishDocument,
  { violations }: Fault,
  before: readonly WishDocument[],
): Promise<readonly string[]> {
  const suspect = dependenciesOf(document).filter(
    (name, index) =>
      before.some((each) => each.name === name) &&
      violations.some(({ path }) => path === pathOf(ROOT_PATH, "dependencies", index)),
  );
  const isThere = await Promise.all(suspect.map((name) => currentOf(session, { kind: "package", name })));
  return suspect.filter((_, index) => isThere[index] === undefined);
}

/** Sends the write to the package manager as a dry run. */
async function rehearsed(session: Session, document: WishDocument, body: object): Promise<Prospect> {
  const { name } = document;
  const query = { dry_run: true };
  const { value, etag } = await session
    .call("updatePackage", { parameters: { name }, body, query })
    .catch((thrown: unknown) => {
      if (!isFault(thrown, "not-found")) throw thrown;
      return session.call("createPackage", { body, query });
    });
  if (value.dry_run !== true)
    throw new Fault(
      { kind: "internal" },
      `the package manager does not support dry runs: package ${name} was ${value.status}`,
    );
  const known = { document, etag, ...(value.revision === undefined ? {} : { revision: value.revision }) };
  if (value.status === "unchanged") return { ...known, action: "nothing", changes: [] };
  // Show a new package as a whole, the way it was written.
  return value.status === "created"
    ? { ...known, action: "create", changes: changesBetween(undefined, document.content) }
    : { ...known, action: "update", changes: value.changes ?? [] };
}

async function foreseeDeployment(
  session: Session,
  document: WishDocument,
  { before, prospects }: { readonly before: readonly WishDocument[]; readonly prospects: readonly Prospect[] },
): Promise<Prospect> {
  const { content } = document;
  const needed = before.find(({ name }) => name === content["package_name"]);
  if (needed) refuseUnknownClass(document, needed);
  const current = await currentOf(session, document);
  const changes = current
    ? changesBetween(comparable(current.value), comparable(await normalised(content)))
    : changesBetween(undefined, content);
  const known = { document, changes, etag: current?.etag ?? null };
  if (current && changes.length === 0) return { ...known, action: "nothing" };
  const action = current ? "update" : "create";
  const isAsItIs = prospects.some((each) => each.document === needed && each.action === "nothing");
  if (needed && !isAsItIs)
    return { ...known, action, unknown: `The deployment is planned after package ${needed.name} is applied.` };
  const { value: plan } = await session.call("createPlan", { body: { deployment: content } });
  return { ...known, action, plan };
}

/** Checks the class against a package that is applied in the same run and that the package manager does not know yet. */
function refuseUnknownClass({ name, content }: WishDocument, needed: WishDocument): void {
  const classes = Array.isArray(needed.content["classes"]) ? (needed.content["classes"] as readonly unknown[]) : [];
  const keys = classes.map((each) => String((each as { readonly key?: unknown } | null)?.key));
  const wanted = String(content["class_key"]);
  if (keys.includes(wanted)) return;
  const meant = nearestName(wanted, keys);
  throw invalidArgument(`deployment "${name}"`, [
    {
      path: "$.class_key",
      message: `package "${needed.name}" has no class "${wanted}"`,
      fix: meant === undefined ? `use one of ${keys.join(", ")}, or add the class` : `did you mean ${meant}?`,
    },
  ]);
}

/** The stored object with its ETag; undefined if it does not exist. */
export async function currentOf(
  session: Session,
  { kind, name }: Pick<WishDocument, "kind" | "name">,
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
async function normalised(content: WishDocument["content"]): Promise<object> {
  const { classDeploymentFromWire, classDeploymentToWire } = await import("@oaas/contracts/rest");
  const read = classDeploymentFromWire(content);
  // The shape requires a condition; the comparison ignores it.
  return read.ok ? classDeploymentToWire({ deployment: read.value, condition: "pending" }) : content;
}

/** Fields that the package manager adds; they are not part of the desired state. */
const ADDED = new Set(["created_at", "updated_at", "condition", "status"]);

function comparable(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([name, member]) => !ADDED.has(name) && member !== undefined));
}
