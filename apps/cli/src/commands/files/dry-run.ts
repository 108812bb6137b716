import { Fault, invalidArgument, isFault, nearestName, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { diffValues, type Change } from "../../documents/changes.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { dependenciesOf } from "../../documents/read-documents.ts";
import { EXIT, exitCodeOf, type ExitCode } from "../../exit-code.ts";
import { faultText } from "../../output/fault-text.ts";
import type { Session } from "../../session/session.ts";

/** The result of a dry run of one document. */
export interface DryRun {
  readonly document: ResourceDocument;
  readonly action: "create" | "update" | "nothing";
  readonly changes: readonly Change[];
  /** The version that was compared, to detect a concurrent change on apply. */
  readonly etag: string | null;
  /** The revision that the package would get. */
  readonly revision?: number;
  /** The plan of the deployment. */
  readonly plan?: Reply<"createPlan">["value"];
  /** What a dry run cannot check. */
  readonly note?: string;
}

/** Faults that concern one document; any other fault ends the whole run. */
const REJECTIONS: ReadonlySet<Fault["kind"]> = new Set([
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
export async function dryRunAll(
  session: Session,
  documents: readonly ResourceDocument[],
): Promise<{ readonly dryRuns: readonly DryRun[]; readonly code: ExitCode }> {
  const dryRuns: DryRun[] = [];
  let code: ExitCode = EXIT.done;
  for (const [index, document] of documents.entries()) {
    const before = documents.slice(0, index).filter(({ kind }) => kind === "package");
    try {
      dryRuns.push(
        document.kind === "package"
          ? await dryRunPackage(session, document, before)
          : await dryRunDeployment(session, document, before),
      );
    } catch (thrown) {
      const fault = Fault.from(thrown);
      if (!REJECTIONS.has(fault.kind)) throw fault;
      session.environment.terminal.err(await rejectionText(session, document, fault));
      code = code === EXIT.done ? dryRunExitCode(fault) : code;
    }
  }
  return { dryRuns, code };
}

/** Formats the rejection of a document with the location of each field in its file. */
export async function rejectionText(session: Session, document: ResourceDocument, fault: Fault): Promise<string> {
  // A plan request nests the deployment in `$.deployment`.
  const locate = (path: string): string => {
    const own = path.replace(/^\$\.deployment(?=$|[.[])/, ROOT_PATH);
    return own.startsWith("$.what_if")
      ? (WHAT_IF_FLAGS[own.split(/[.[]/)[2] ?? ""] ?? own)
      : `${document.locationOf(own)} ${own}`;
  };
  const hint = await session.fixHint(fault);
  return faultText(locateMissingPackage(fault, document), session.colours, { locate, hint });
}

/** The flag for each what-if field of a plan request. */
const WHAT_IF_FLAGS: Readonly<Record<string, string>> = {
  clusters_down: "--cluster-down",
  availability: "--availability",
  package_revision: "--revision",
};

/** Turns a missing package into a violation of the field that names it. */
function locateMissingPackage(fault: Fault, { kind, content }: ResourceDocument): Fault {
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
export function dryRunExitCode(fault: Fault): ExitCode {
  const code = exitCodeOf(fault);
  return code === EXIT.failed ? EXIT.usage : code;
}

async function dryRunPackage(
  session: Session,
  document: ResourceDocument,
  before: readonly ResourceDocument[],
): Promise<DryRun> {
  const { content } = document;
  try {
    return await sendDryRun(session, document, content);
  } catch (thrown) {
    const pending = isFault(thrown, "invalid-argument")
      ? await pendingDependencies(session, document, thrown, before)
      : [];
    if (pending.length === 0) throw thrown;
    const dependencies = dependenciesOf(document).filter((name) => !pending.includes(name));
    const rest = await sendDryRun(session, document, { ...content, dependencies });
    const added = pending.map((name) => ({ path: pathOf(ROOT_PATH, "dependencies", name), after: name }));
    return {
      ...rest,
      ...(rest.action === "create" ? {} : { action: "update", changes: [...rest.changes, ...added] }),
      note: `The dependency on ${pending.join(", ")} is checked after that package is applied.`,
    };
  }
}

/** Dependencies that do not exist yet and are applied before this document. */
async function pendingDependencies(
  session: Session,
  document: ResourceDocument,
  { violations }: Fault,
  before: readonly ResourceDocument[],
): Promise<readonly string[]> {
  const missing = dependenciesOf(document).filter(
    (name, index) =>
      before.some((each) => each.name === name) &&
      violations.some(({ path }) => path === pathOf(ROOT_PATH, "dependencies", index)),
  );
  const existing = await Promise.all(missing.map((name) => readCurrent(session, { kind: "package", name })));
  return missing.filter((_, index) => existing[index] === undefined);
}

/** Sends the write to the package manager as a dry run. */
async function sendDryRun(session: Session, document: ResourceDocument, body: object): Promise<DryRun> {
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
  const base = { document, etag, ...(value.revision === undefined ? {} : { revision: value.revision }) };
  if (value.status === "unchanged") return { ...base, action: "nothing", changes: [] };
  // Show a new package as a whole, the way it was written.
  return value.status === "created"
    ? { ...base, action: "create", changes: diffValues(undefined, document.content) }
    : { ...base, action: "update", changes: value.changes ?? [] };
}

async function dryRunDeployment(
  session: Session,
  document: ResourceDocument,
  before: readonly ResourceDocument[],
): Promise<DryRun> {
  const { content } = document;
  const needed = before.find(({ name }) => name === content["package_name"]);
  if (needed) rejectUnknownClass(document, needed);
  const current = await readCurrent(session, document);
  const changes = current
    ? diffValues(desiredFields(current.value), desiredFields(await withDefaults(content)))
    : diffValues(undefined, content);
  const base = { document, changes, etag: current?.etag ?? null };
  if (current && changes.length === 0) return { ...base, action: "nothing" };
  const action = current ? "update" : "create";
  const body = { deployment: content, ...(needed ? { what_if: { package: needed.content } } : {}) };
  const { value: plan } = await session.call("createPlan", { body });
  return { ...base, action, plan };
}

/**
 * Checks the class against a package that is applied in the same run and that the package manager does not know yet.
 */
function rejectUnknownClass({ name, content }: ResourceDocument, needed: ResourceDocument): void {
  const classes = Array.isArray(needed.content["classes"]) ? (needed.content["classes"] as readonly unknown[]) : [];
  const keys = classes.map((each) => String((each as { readonly key?: unknown } | null)?.key));
  const classKey = String(content["class_key"]);
  if (keys.includes(classKey)) return;
  const suggestion = nearestName(classKey, keys);
  throw invalidArgument(`deployment "${name}"`, [
    {
      path: "$.class_key",
      message: `package "${needed.name}" has no class "${classKey}"`,
      fix: suggestion === undefined ? `use one of ${keys.join(", ")}, or add the class` : `did you mean ${suggestion}?`,
    },
  ]);
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
