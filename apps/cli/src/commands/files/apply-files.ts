import { applyDocument, filterValid } from "./apply-document.ts";
import { changesText, resolvedChangesText } from "../../documents/changes-text.ts";
import type { ResourceDocument } from "../../documents/document.ts";
import { sortByDependency, readSources, readDocuments, parseFailure } from "../../documents/read-documents.ts";
import { EXIT, exitCodeOf, UsageError, type ExitCode } from "../../exit-code.ts";
import { documentName, isRejectedSet, sendSet, type AppliedDocument, type SetQuery } from "./document-set.ts";
import { readCurrent, dryRunAll, type DryRun } from "./dry-run.ts";
import { planObjects } from "./plan.ts";
import { planObjectsText } from "../../output/plan-objects-text.ts";
import { rejectionText } from "./rejection-text.ts";
import { followUntilRunning, type WaitFlags } from "../observe/follow-deployment.ts";
import type { Session } from "../../session/session.ts";

export interface ApplyFlags extends WaitFlags {
  readonly filename?: readonly string[];
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly keepGoing: boolean;
  readonly reason?: string;
  readonly applyDeployments: boolean;
  readonly overridePackage?: string;
  readonly overwrite: boolean;
  readonly validate?: string;
}

/**
 * Applies files. All documents are one set, which the package manager applies as a whole or not at all. With `--keep-going`
 * each document is applied by itself.
 */
export async function applyFiles(session: Session, flags: ApplyFlags, ...paths: readonly string[]): Promise<ExitCode> {
  const { valid, allValid } = await readValidDocuments(session, flags, paths);
  if (!allValid && !flags.keepGoing) return printNothingApplied(session, EXIT.usage);
  const documents = sortByDependency(valid);
  if (flags.dryRun) {
    const { dryRuns, code } = await dryRunAll(session, documents, setQuery(flags));
    for (const dryRun of dryRuns) printDryRun(session, dryRun);
    session.printRecorded();
    return allValid ? code : EXIT.usage;
  }
  const { applied, worst } = flags.keepGoing
    ? await applyEach(session, documents, flags)
    : await applyTogether(session, documents, flags);
  const ended = allValid ? worst : EXIT.usage;
  const waited = flags.wait ? await waitForAll(session, applied, flags) : EXIT.done;
  return ended === EXIT.done ? waited : ended;
}

interface Applied {
  readonly applied: readonly ResourceDocument[];
  readonly worst: ExitCode;
}

function setQuery({ applyDeployments, validate }: ApplyFlags): SetQuery {
  return { ...(applyDeployments ? { apply_deployments: true } : {}), field_validation: validate };
}

/** Applies all documents, or none. */
async function applyTogether(
  session: Session,
  documents: readonly ResourceDocument[],
  flags: ApplyFlags,
): Promise<Applied> {
  const sent = await sendSet(session, documents, { ...setQuery(flags), reason: flags.reason });
  if (sent === undefined) {
    if (documents.length > 1)
      session.printNote("The package manager is older and has no sets: the documents are applied one after another.\n");
    return applyEach(session, documents, flags);
  }
  if (isRejectedSet(sent)) return { applied: [], worst: printNothingApplied(session, exitCodeOf(sent.fault)) };
  let worst: ExitCode = EXIT.done;
  for (const result of sent) {
    const code = await printResult(session, documents, result);
    worst = worst === EXIT.done ? code : worst;
  }
  session.printRecorded();
  const failed = new Set(sent.filter(({ rollout }) => rollout === "failed").map(documentName));
  return { applied: documents.filter((each) => !failed.has(documentName(each))), worst };
}

/** Prints the result of one document; a failed roll-out with its error. */
async function printResult(
  session: Session,
  documents: readonly ResourceDocument[],
  result: AppliedDocument,
): Promise<ExitCode> {
  const { kind, name, status, message, rollout, problem } = result;
  if (rollout !== "failed") {
    session.recordOutcome({ kind, name, result: rollout === "in_progress" ? "accepted" : status, message });
    return EXIT.done;
  }
  const { faultFromProblem } = await import("@oaas/contracts/rest");
  const fault = faultFromProblem(problem, 500);
  const document = documents.find((each) => documentName(each) === documentName(result));
  const text = document ? await rejectionText(session, document, fault) : session.formatFault(fault);
  session.environment.terminal.err(text);
  session.recordOutcome({ kind, name, result: "failed", code: fault.code, message: fault.message }, "");
  return exitCodeOf(fault);
}

function printNothingApplied(session: Session, code: ExitCode): ExitCode {
  session.printNote("Nothing was applied. Use --keep-going to apply the valid documents.\n");
  session.printRecorded();
  return code;
}

/** Applies the documents one after another; with `--keep-going` also after a failure. */
async function applyEach(
  session: Session,
  documents: readonly ResourceDocument[],
  flags: ApplyFlags,
): Promise<Applied> {
  const applied: ResourceDocument[] = [];
  let worst: ExitCode = EXIT.done;
  for (const document of documents) {
    const code = await applyDocument(session, await readState(session, document), flags);
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
  if (errors.length > 0) session.printUsageError(parseFailure(errors));
  const renamed = documents.map((document) => withPackageName(document, flags.overridePackage));
  const valid = await filterValid(session, renamed, flags.validate);
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
  const { document, action, changes, revision, plan } = dryRun;
  const { kind, name } = document;
  const result = action === "nothing" ? "unchanged" : `would ${action}`;
  const number = revision === undefined || action === "nothing" ? "" : ` (revision ${revision})`;
  const explained = plan === undefined ? "" : `${plan.explanation.trimEnd().replaceAll(/^/gm, "  ")}\n`;
  const line = `${kind}/${name}: ${result}${number}\n${dryRunChanges(session, dryRun)}${explained}`;
  const details = { revision, changes, plan };
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
    const code = await followUntilRunning(session, key, flags);
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

export interface DiffFlags {
  readonly filename: readonly string[];
  readonly objects: boolean;
}

/** Shows the changes that apply would make; exits with 1 if there are any, with 2 if a document is invalid. */
export async function diffFiles(session: Session, flags: DiffFlags): Promise<ExitCode> {
  const documents = sortByDependency(await readDocuments(session.environment, flags.filename));
  if ((await filterValid(session, documents)).length < documents.length) return EXIT.usage;
  const { dryRuns, code } = await dryRunAll(session, documents);
  const changed = dryRuns.filter(({ action }) => action !== "nothing");
  const plans = flags.objects && code === EXIT.done ? await planObjects(session, documents) : [];
  if (typeof plans === "number") return plans;
  for (const dryRun of changed) {
    const { document, action, changes, plan } = dryRun;
    const { kind, name } = document;
    const resolved = plan?.changes ?? undefined;
    const objects = kind === "deployment" ? plans.find((each) => each.deployment_key === name)?.objects : undefined;
    const ofObjects = objects === undefined ? "" : `${planObjectsText(objects, session.colours)}\n`;
    const line = `${kind}/${name} (${action})\n${dryRunChanges(session, dryRun)}${ofObjects}`;
    session.recordOutcome(
      {
        kind,
        name,
        result: action,
        changes,
        ...(resolved && { resolved_changes: resolved }),
        ...(objects && { objects }),
      },
      line,
    );
  }
  session.printRecorded();
  if (code !== EXIT.done) return code;
  return changed.length === 0 ? EXIT.done : EXIT.failed;
}
