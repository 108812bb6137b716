import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, type JsonValue } from "@oaas/kube-core";
import type { Subject } from "./case.ts";
import type { CaseRun } from "./run-case.ts";
import type { SubjectRuns } from "./run-all.ts";

/**
 * Recorded output of the real server. The embedded server can be compared with it in seconds without a real one, and a
 * diff shows when the real server changes. One line per step.
 */
const FOLDER = join(import.meta.dirname, "..", "recorded");

export function recordedRuns(subjects: readonly Subject[]): SubjectRuns {
  return new Map(subjects.map(({ subject, cases }) => [subject, cases.map(({ name }) => recordedCase(subject, name))]));
}

function recordedCase(subject: string, name: string): CaseRun {
  const shown = recordOf(subject)[name];
  return shown === undefined
    ? { shown: [], broken: [`no recording of "${name}"; npm run conformance -- --record`] }
    : { shown, broken: [] };
}

type SubjectRecord = Readonly<Record<string, readonly JsonValue[]>>;
const read = new Map<string, SubjectRecord>();

function recordOf(subject: string): SubjectRecord {
  const known = read.get(subject);
  if (known !== undefined) return known;
  const file = fileOf(subject);
  const record = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as SubjectRecord) : {};
  read.set(subject, record);
  return record;
}

export function record({ subject, cases }: Subject, runs: readonly CaseRun[]): void {
  const entries = cases.map(({ name }, index) => {
    const lines = (runs[index]?.shown ?? []).map((shown) => `    ${canonicalJson(shown)}`);
    return `  ${JSON.stringify(name)}: [\n${lines.join(",\n")}\n  ]`;
  });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(fileOf(subject), `{\n${entries.join(",\n")}\n}\n`);
}

function fileOf(subject: string): string {
  return join(FOLDER, `${subject.replaceAll(" ", "-")}.json`);
}
