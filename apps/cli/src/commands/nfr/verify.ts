import { violationText } from "@oaas/foundation";
import { outcomeText, readDecisionRecord, recompute, RECORD_ANNOTATION, type DecisionRecord } from "@oaas/nfr/policy";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { readText } from "./read-file.ts";

interface NamedRecord {
  readonly name: string;
  readonly document: unknown;
}

/** Recomputes every decision in files with Kubernetes events or decision records. */
export async function verifyDecisions(
  session: Session,
  _flags: object,
  ...files: readonly string[]
): Promise<ExitCode> {
  const records: { readonly name: string; readonly record: DecisionRecord }[] = [];
  for (const file of files) {
    const found = findRecords(file, parse(file, await readText(session, file)));
    if (found.length === 0)
      throw new UsageError(
        `${file} has no recorded decision`,
        `pass events of reason NFRApplied or NFRReverted with the annotation ${RECORD_ANNOTATION}`,
      );
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
