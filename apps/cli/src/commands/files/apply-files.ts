import { applyDocument, filterValid } from "./apply-document.ts";
import { changesText, resolvedChangesText } from "../../documents/changes-text.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { sortByDependency, readSources, readDocuments, parseFailure } from "../../documents/read-documents.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { readCurrent, dryRunAll, type DryRun } from "./dry-run.ts";
import { followDeployment } from "../observe/rollout.ts";
import type { Session } from "../../session/session.ts";
import { isRunning } from "../observe/wait.ts";

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
  const { valid, allValid } = await readValidDocuments(session, flags, paths);
  if (!allValid && !flags.keepGoing) return printNothingApplied(session, EXIT.usage);
  const documents = sortByDependency(valid);
  // The write of a single document validates it.
  const needsDryRun = flags.dryRun || (!flags.keepGoing && documents.length > 1);
  const { dryRuns, code } = needsDryRun ? await dryRunAll(session, documents) : { dryRuns: [], code: EXIT.done };
  if (flags.dryRun) {
    for (const dryRun of dryRuns) printDryRun(session, dryRun);
    session.printRecorded();
    return allValid ? code : EXIT.usage;
  }
  if (code !== EXIT.done) return printNothingApplied(session, code);
  const { applied, worst } = await applyAll(session, documents, dryRuns, flags);
  const ended = allValid ? worst : EXIT.usage;
  const waited = flags.wait ? await waitForAll(session, applied, flags) : EXIT.done;
  return ended === EXIT.done ? waited : ended;
}

function printNothingApplied(session: Session, code: ExitCode): ExitCode {
  session.printNote("Nothing was applied. Use --keep-going to apply the valid documents.\n");
  session.printRecorded();
  return code;
}

async function applyAll(
  session: Session,
  documents: readonly ResourceDocument[],
  dryRuns: readonly DryRun[],
  flags: ApplyFlags,
): Promise<{ readonly applied: readonly ResourceDocument[]; readonly worst: ExitCode }> {
  const applied: ResourceDocument[] = [];
  let worst: ExitCode = EXIT.done;
  for (const document of documents) {
    // Applying a package with embedded deployments may have changed them since the dry run.
    const previous = flags.applyDeployments ? undefined : dryRuns.find((each) => each.document === document);
    const code = await applyDocument(session, previous ?? (await readState(session, document)), flags);
    if (code === EXIT.done) applied.push(document);
    else {
      worst = code;
      if (!flags.keepGoing) break;
    }
  }
  session.printRecorded();
  return { applied, worst };
}

async function readState(session: Session, document: ResourceDocument) {
  const current = await readCurrent(session, document);
  return { document, action: current ? "update" : "create", etag: current?.etag ?? null } as const;
}

/** The valid documents of all files, and whether all documents are valid. */
async function readValidDocuments(
  session: Session,
  flags: ApplyFlags,
  paths: readonly string[],
): Promise<{ readonly valid: readonly ResourceDocument[]; readonly allValid: boolean }> {
  const sources = [...(flags.filename ?? []), ...paths];
  if (sources.length === 0) throw new UsageError("no file given", "oaas apply -f FILE");
  const { documents, errors } = await readSources(session.environment, sources);
  if (errors.length > 0)
    session.environment.terminal.err(`${session.colours.bad("error:")} ${parseFailure(errors).message}\n`);
  const renamed = documents.map((document) => withPackageName(document, flags.overridePackage));
  const valid = await filterValid(session, renamed);
  return { valid, allValid: errors.length === 0 && valid.length === renamed.length };
}

/** The document with another package name. */
function withPackageName(document: ResourceDocument, name: string | undefined): ResourceDocument {
  if (name === undefined) return document;
  return document.kind === "package"
    ? { ...document, name, content: { ...document.content, name } }
    : { ...document, content: { ...document.content, package_name: name } };
}

/** Prints the changes of a dry run, and the explanation of a plan. */
function printDryRun(session: Session, dryRun: DryRun): void {
  const { document, action, changes, revision, plan, note } = dryRun;
  const { kind, name } = document;
  const result = action === "nothing" ? "unchanged" : `would ${action}`;
  const number = revision === undefined || action === "nothing" ? "" : ` (revision ${revision})`;
  const words = [plan?.explanation.trimEnd(), note].filter((each) => each !== undefined);
  const explained = words.map((each) => `${each.replaceAll(/^/gm, "  ")}\n`).join("");
  const line = `${kind}/${name}: ${result}${number}\n${dryRunChanges(session, dryRun)}${explained}`;
  const details = { revision, changes, plan, message: note };
  const defined = Object.entries(details).filter(([, value]) => value !== undefined);
  session.recordOutcome({ kind, name, result, ...Object.fromEntries(defined) }, line);
}

/** The changes of what runs, the state store first, then the changes as written. */
function dryRunChanges({ colours }: Session, { changes, plan }: DryRun): string {
  return `${resolvedChangesText(plan?.changes ?? [], colours)}${changesText(changes, colours)}`;
}

async function waitForAll(
  session: Session,
  applied: readonly ResourceDocument[],
  flags: ApplyFlags,
): Promise<ExitCode> {
  const own = applied.filter(({ kind }) => kind === "deployment").map(({ name }) => name);
  const embedded = flags.applyDeployments ? applied.flatMap(embeddedDeploymentKeys) : [];
  for (const key of new Set([...own, ...embedded])) {
    const code = await followDeployment(session, key, {
      isReached: isRunning,
      description: "running",
      timeoutMs: flags.timeout,
    });
    if (code !== EXIT.done) return code;
  }
  return EXIT.done;
}

/** Keys of the deployments embedded in a package. */
function embeddedDeploymentKeys({ content }: ResourceDocument): readonly string[] {
  const embedded = content["deployments"];
  const all = Array.isArray(embedded) ? (embedded as readonly { readonly key?: unknown }[]) : [];
  return all.map(({ key }) => key).filter((key) => typeof key === "string");
}

/** Shows the changes that apply would make; exits with 1 if there are any, with 2 if a document is invalid. */
export async function diffFiles(session: Session, flags: { readonly filename: readonly string[] }): Promise<ExitCode> {
  const documents = sortByDependency(await readDocuments(session.environment, flags.filename));
  if ((await filterValid(session, documents)).length < documents.length) return EXIT.usage;
  const { dryRuns, code } = await dryRunAll(session, documents);
  const changed = dryRuns.filter(({ action }) => action !== "nothing");
  for (const dryRun of changed) {
    const { document, action, changes, plan } = dryRun;
    const { kind, name } = document;
    const resolved = plan?.changes ?? undefined;
    const line = `${kind}/${name} (${action})\n${dryRunChanges(session, dryRun)}`;
    session.recordOutcome(
      { kind, name, result: action, changes, ...(resolved && { resolved_changes: resolved }) },
      line,
    );
  }
  session.printRecorded();
  if (code !== EXIT.done) return code;
  return changed.length === 0 ? EXIT.done : EXIT.failed;
}
