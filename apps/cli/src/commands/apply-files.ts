import { applyDocument, validOf } from "../apply.ts";
import { changesText } from "../documents/changes-text.ts";
import type { WishDocument } from "../documents/document.ts";
import { inOrder, readAll, readDocuments, unreadable } from "../documents/read-documents.ts";
import { EXIT, UsageError, type ExitCode } from "../exit-code.ts";
import { currentOf, foreseeAll, type Prospect } from "../foresee.ts";
import { followDeployment } from "../session/roll-out.ts";
import type { Session } from "../session/session.ts";
import { isRunning } from "./wait.ts";

export interface ApplyFlags {
  readonly filename?: readonly string[];
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly timeout: number;
  readonly keepGoing: boolean;
  readonly reason?: string;
  readonly applyDeployments: boolean;
  readonly overridePackage?: string;
  readonly overwrite: boolean;
}

/**
 * Applies files. All documents are validated before the first write; several documents are also dry-run on the package
 * manager, so that an invalid one changes nothing.
 */
export async function applyFiles(session: Session, flags: ApplyFlags, ...paths: readonly string[]): Promise<ExitCode> {
  const { good, isWhole } = await wishesOf(session, flags, paths);
  if (!isWhole && !flags.keepGoing) return refused(session, EXIT.usage);
  const documents = inOrder(good);
  // The write of a single document validates it.
  const isForeseen = flags.dryRun || (!flags.keepGoing && documents.length > 1);
  const { prospects, code } = isForeseen ? await foreseeAll(session, documents) : { prospects: [], code: EXIT.done };
  if (flags.dryRun) {
    for (const prospect of prospects) foretell(session, prospect);
    session.doneAll();
    return isWhole ? code : EXIT.usage;
  }
  if (code !== EXIT.done) return refused(session, code);
  const { applied, worst } = await applyAll(session, documents, prospects, flags);
  const ended = isWhole ? worst : EXIT.usage;
  const waited = flags.wait ? await waitForAll(session, applied, flags) : EXIT.done;
  return ended === EXIT.done ? waited : ended;
}

function refused(session: Session, code: ExitCode): ExitCode {
  session.note("Nothing was applied. Use --keep-going to apply the valid documents.\n");
  session.doneAll();
  return code;
}

async function applyAll(
  session: Session,
  documents: readonly WishDocument[],
  prospects: readonly Prospect[],
  flags: ApplyFlags,
): Promise<{ readonly applied: readonly WishDocument[]; readonly worst: ExitCode }> {
  const applied: WishDocument[] = [];
  let worst: ExitCode = EXIT.done;
  for (const document of documents) {
    // Applying a package with embedded deployments may have changed them since the dry run.
    const seen = flags.applyDeployments ? undefined : prospects.find((each) => each.document === document);
    const code = await applyDocument(session, seen ?? (await stateOf(session, document)), flags);
    if (code === EXIT.done) applied.push(document);
    else {
      worst = code;
      if (!flags.keepGoing) break;
    }
  }
  session.doneAll();
  return { applied, worst };
}

async function stateOf(session: Session, document: WishDocument) {
  const current = await currentOf(session, document);
  return { document, action: current ? "update" : "create", etag: current?.etag ?? null } as const;
}

/** The valid documents of all files, and whether all documents are valid. */
async function wishesOf(
  session: Session,
  flags: ApplyFlags,
  paths: readonly string[],
): Promise<{ readonly good: readonly WishDocument[]; readonly isWhole: boolean }> {
  const sources = [...(flags.filename ?? []), ...paths];
  if (sources.length === 0) throw new UsageError("no file given", "oaas apply -f FILE");
  const { documents, mistakes } = await readAll(session.world, sources);
  if (mistakes.length > 0)
    session.world.terminal.err(`${session.colours.bad("error:")} ${unreadable(mistakes).message}\n`);
  const named = documents.map((document) => underName(document, flags.overridePackage));
  const good = await validOf(session, named);
  return { good, isWhole: mistakes.length === 0 && good.length === named.length };
}

/** The document with another package name. */
function underName(document: WishDocument, name: string | undefined): WishDocument {
  if (name === undefined) return document;
  return document.kind === "package"
    ? { ...document, name, content: { ...document.content, name } }
    : { ...document, content: { ...document.content, package_name: name } };
}

/** Prints the changes of a dry run, and the explanation of a plan. */
function foretell(session: Session, { document, action, changes, revision, plan, unknown }: Prospect): void {
  const { kind, name } = document;
  const result = action === "nothing" ? "unchanged" : `would ${action}`;
  const number = revision === undefined || action === "nothing" ? "" : ` (revision ${revision})`;
  const words = [plan?.explanation.trimEnd(), unknown].filter((each) => each !== undefined);
  const explained = words.map((each) => `${each.replaceAll(/^/gm, "  ")}\n`).join("");
  const line = `${kind}/${name}: ${result}${number}\n${changesText(changes, session.colours)}${explained}`;
  const told = { revision, changes, plan, message: unknown };
  const known = Object.entries(told).filter(([, value]) => value !== undefined);
  session.doneOne({ kind, name, result, ...Object.fromEntries(known) }, line);
}

async function waitForAll(session: Session, applied: readonly WishDocument[], flags: ApplyFlags): Promise<ExitCode> {
  const own = applied.filter(({ kind }) => kind === "deployment").map(({ name }) => name);
  const embedded = flags.applyDeployments ? applied.flatMap(embeddedKeys) : [];
  for (const key of new Set([...own, ...embedded])) {
    const code = await followDeployment(session, key, { holds: isRunning, what: "running", timeoutMs: flags.timeout });
    if (code !== EXIT.done) return code;
  }
  return EXIT.done;
}

/** Keys of the deployments embedded in a package. */
function embeddedKeys({ content }: WishDocument): readonly string[] {
  const given = content["deployments"];
  const all = Array.isArray(given) ? (given as readonly { readonly key?: unknown }[]) : [];
  return all.map(({ key }) => key).filter((key) => typeof key === "string");
}

/** Shows the changes that apply would make; exits with 1 if there are any, with 2 if a document is invalid. */
export async function diffFiles(session: Session, flags: { readonly filename: readonly string[] }): Promise<ExitCode> {
  const documents = inOrder(await readDocuments(session.world, flags.filename));
  if ((await validOf(session, documents)).length < documents.length) return EXIT.usage;
  const { prospects, code } = await foreseeAll(session, documents);
  const changed = prospects.filter(({ action }) => action !== "nothing");
  for (const { document, action, changes } of changed) {
    const { kind, name } = document;
    const line = `${kind}/${name} (${action})\n${changesText(changes, session.colours)}`;
    session.doneOne({ kind, name, result: action, changes }, line);
  }
  session.doneAll();
  if (code !== EXIT.done) return code;
  return changed.length === 0 ? EXIT.done : EXIT.failed;
}
