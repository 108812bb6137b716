import { violationText } from "@oaas/foundation";
import { outcomeText, readDecisionRecord, recompute, RECORD_ANNOTATION, type DecisionRecord } from "@oaas/nfr/policy";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { findRuntimes, readEnforcement, type EnforcementReport, type Runtime } from "./find-runtimes.ts";
import { readText } from "./read-file.ts";

interface NamedRecord {
  readonly name: string;
  readonly document: unknown;
}

export interface VerifyFlags {
  readonly cluster?: string;
  readonly action?: string;
}

/**
 * Recomputes decisions: those of a class, a deployment or an Event, read through the package manager, and those in files
 * with Kubernetes events or decision records.
 */
export async function verifyDecisions(
  session: Session,
  flags: VerifyFlags,
  ...subjects: readonly string[]
): Promise<ExitCode> {
  const records: { readonly name: string; readonly record: DecisionRecord }[] = [];
  for (const subject of subjects) {
    const text = await readSubject(session, subject);
    const found =
      text === undefined ? await fetchRecords(session, subject, flags) : readRecords(subject, parse(subject, text));
    for (const { name, document } of found) records.push({ name, record: checkRecord(name, document) });
  }
  const results = records.map(({ name, record }) => ({ name, record, ...recompute(record) }));
  for (const { name, record, isEqual, problems } of results) {
    const { component, dimension } = record.input;
    const recorded = outcomeText(record.outcome);
    const result = isEqual ? "equal" : "not equal";
    const line = `${name}: ${component} ${dimension} ${recorded}: ${result}\n${problems.map((problem) => `  ${problem}\n`).join("")}`;
    session.recordOutcome(
      { kind: "decision", name, result, component, dimension, recorded, problems, digest: record.digest },
      line,
    );
  }
  session.printRecorded();
  return results.every(({ isEqual }) => isEqual) ? EXIT.done : EXIT.failed;
}

/** The text of a file or of standard input; undefined if the subject is not a file. */
async function readSubject(session: Session, subject: string): Promise<string | undefined> {
  if (subject === "-" || isPath(subject)) return readText(session, subject);
  return session.environment.files.read(subject);
}

/** Names of classes, deployments and Events have neither folders nor an ending. */
function isPath(subject: string): boolean {
  return subject.includes("/") || subject.endsWith(".json");
}

function readRecords(file: string, document: unknown): readonly NamedRecord[] {
  const found = findRecords(file, document);
  if (found.length > 0) return found;
  throw new UsageError(
    `${file} has no recorded decision`,
    `pass events of reason NFRApplied or NFRReverted with the annotation ${RECORD_ANNOTATION}`,
  );
}

async function fetchRecords(session: Session, subject: string, flags: VerifyFlags): Promise<readonly NamedRecord[]> {
  const runtimes = await findRuntimes(session, subject, flags.cluster);
  const isEvent = runtimes.length === 0;
  const selected = isEvent ? await runtimesOfEvent(session, subject, flags) : runtimes;
  const reports = await Promise.all(selected.map((runtime) => readEnforcement(session, runtime)));
  const decisions = reports.flatMap((report) => report?.decisions ?? []);
  const named = isEvent ? decisions.filter(({ event_name }) => event_name === subject) : decisions;
  const wanted = flags.action === undefined ? named : named.filter((one) => isAction(one, flags.action ?? ""));
  if (wanted.length > 0) return wanted.map(({ event_name: name, record }) => ({ name, document: parse(name, record) }));
  throw new UsageError(...missingDecision(subject, flags, isEvent ? decisions : named));
}

type Decision = EnforcementReport["decisions"][number];

/** An action is named by its component, its component and dimension, or the start of its digest. */
function isAction({ component, dimension, digest }: Decision, action: string): boolean {
  const digits = action.startsWith("sha256:") ? action : `sha256:${action}`;
  return action === component || action === `${component}/${dimension}` || digest.startsWith(digits);
}

/** The name of an Event starts with the name of its class runtime. */
async function runtimesOfEvent(session: Session, event: string, { cluster }: VerifyFlags): Promise<readonly Runtime[]> {
  const runtimes = await session.listAll("listClassRuntimes", { query: { cluster } });
  const found = runtimes.filter(({ id }) => event.startsWith(`${id}-`));
  if (found.length > 0) return found;
  throw new UsageError(
    `${event} is not a file, a class, a deployment or an Event of a class runtime`,
    "name a class such as shop.Order; list them with oaas runtime list",
  );
}

function missingDecision(subject: string, { action }: VerifyFlags, decisions: readonly Decision[]): [string, string] {
  if (decisions.length === 0)
    return [
      `${subject} has no recorded decision`,
      `enforcement has changed nothing yet; see oaas nfr explain ${subject}`,
    ];
  const known = decisions.map(({ component, dimension, event_name }) => `${component}/${dimension} (${event_name})`);
  const what = action === undefined ? "Event" : `action ${action}`;
  return [`${subject} has no record of this ${what}`, `recorded: ${known.join(", ")}`];
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError(`${file} is not JSON`, "use kubectl get event NAME -o json");
  }
}

/** The records in a document: a record, an event with one, or a list of events. */
function findRecords(file: string, document: unknown): readonly NamedRecord[] {
  if (typeof document !== "object" || document === null) return [];
  const { items, metadata, outcome } = document as {
    readonly items?: unknown;
    readonly outcome?: unknown;
    readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, unknown>> };
  };
  if (Array.isArray(items)) return items.flatMap((item: unknown) => findRecords(file, item));
  if (outcome !== undefined) return [{ name: file, document }];
  const annotation = metadata?.annotations?.[RECORD_ANNOTATION];
  const name = metadata?.name ?? file;
  return typeof annotation === "string" ? [{ name, document: parse(name, annotation) }] : [];
}

function checkRecord(name: string, document: unknown): DecisionRecord {
  const read = readDecisionRecord(document);
  if (read.ok) return read.value;
  throw new UsageError(`${name} has an invalid record: ${read.error.map(violationText).join("; ")}`);
}
