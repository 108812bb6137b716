import { equalJson } from "@oaas/kube-core";
import { fuzz } from "../fuzz/fuzz.ts";
import type { Subject } from "./case.ts";
import { disagreements, listedDifferences } from "./differences.ts";
import { startEmbeddedTarget } from "./embedded-target.ts";
import { differencesOf, judge } from "./judge.ts";
import { knownDifferences } from "./known-differences.ts";
import { startRealTarget } from "./real-target.ts";
import { record, recordedRuns } from "./recorded.ts";
import { runSubjects, type SubjectRuns } from "./run-all.ts";
import { SUBJECTS } from "./subjects.ts";

/** One row of the table. */
export interface SubjectReport {
  readonly subject: string;
  readonly cases: number;
  /** Cases whose expectations hold on the real server, and those with equal output on the embedded one. */
  readonly real: number;
  readonly embedded: number;
  /** Cases with a listed difference. */
  readonly listed: number;
}

export interface ConformanceReport {
  readonly subjects: readonly SubjectReport[];
  /** Unexpected results as text; empty when both servers agree except for listed differences. */
  readonly problems: readonly string[];
}

export interface ConformanceOptions {
  /** Subjects that run on the real server; the others are compared with the recording. */
  readonly isReal: (subject: Subject) => boolean;
  /** Whether to record the real server's output; otherwise it must match the recording. */
  readonly isRecording?: boolean;
  /** The number of random sequences that run on both, and their seed. */
  readonly sequences: number;
  readonly seed: number;
  readonly isWanted?: (subject: Subject) => boolean;
}

const NEEDS = ["api", "controllers"] as const;

/**
 * Runs the cases on both servers and compares them, then random sequences, then the differences found with the listed
 * ones.
 */
export async function runConformance(options: ConformanceOptions): Promise<ConformanceReport> {
  const wanted = SUBJECTS.filter(options.isWanted ?? (() => true));
  const seen = new Set<string>();
  const subjects: SubjectReport[] = [];
  const problems: string[] = [];
  for (const needs of NEEDS) {
    const these = wanted.filter((subject) => subject.needs === needs);
    if (these.length === 0 && !isFuzzed(needs, options)) continue;
    const part = await runPart(needs, these, options);
    subjects.push(...part.subjects);
    problems.push(...part.problems);
    for (const id of part.seen) seen.add(id);
  }
  const isWhole = wanted.length === SUBJECTS.length && options.sequences > 0;
  return { subjects, problems: isWhole ? [...problems, ...disagreements(listedDifferences(), seen)] : problems };
}

/** Random sequences need no controllers. */
function isFuzzed(needs: Subject["needs"], { sequences }: ConformanceOptions): boolean {
  return needs === "api" && sequences > 0;
}

interface Part {
  readonly subjects: readonly SubjectReport[];
  readonly problems: readonly string[];
  readonly seen: ReadonlySet<string>;
}

async function runPart(
  needs: Subject["needs"],
  subjects: readonly Subject[],
  options: ConformanceOptions,
): Promise<Part> {
  const onReal = subjects.filter(options.isReal);
  const hasSequences = isFuzzed(needs, options);
  await using embedded = await startEmbeddedTarget(needs);
  await using real = onReal.length > 0 || hasSequences ? await startRealTarget(needs) : undefined;
  const [ours, theirs] = await Promise.all([
    runSubjects(embedded, subjects),
    real === undefined ? new Map() : runSubjects(real, onReal),
  ]);
  const recorded = recordedRuns(subjects);
  const problems: string[] = [];
  const seen = new Set<string>();
  const reports: SubjectReport[] = [];
  for (const subject of subjects) {
    const fresh = theirs.get(subject.subject);
    if (fresh !== undefined && options.isRecording === true) record(subject, fresh);
    if (fresh !== undefined && options.isRecording !== true) problems.push(...staleRecords(subject, recorded, theirs));
    const report = judgeSubject(subject, fresh === undefined ? recorded : theirs, ours);
    reports.push(report.report);
    problems.push(...report.problems);
    for (const id of report.differences) seen.add(id);
  }
  if (real !== undefined && hasSequences) {
    const outcome = await fuzz(real, embedded, options.sequences, options.seed);
    problems.push(...outcome.found.map((text) => `fuzz (seed ${options.seed}):\n${text}`));
    const { sequences: cases, found } = outcome;
    reports.push({
      subject: "random sequences",
      cases,
      real: cases,
      embedded: cases - found.length,
      listed: 0,
    });
  }
  return { subjects: reports, problems, seen };
}

function judgeSubject(
  { subject, cases }: Subject,
  real: SubjectRuns,
  embedded: SubjectRuns,
): { readonly report: SubjectReport; readonly problems: readonly string[]; readonly differences: readonly string[] } {
  const verdicts = cases.map((each, index) => {
    const nothing = { shown: [], broken: ["was not run"] };
    const theirs = real.get(subject)?.[index] ?? nothing;
    const verdict = judge(
      each,
      theirs,
      embedded.get(subject)?.[index] ?? nothing,
      knownDifferences(subject, each.name),
    );
    return { name: each.name, isTrue: theirs.broken.length === 0, ...verdict };
  });
  return {
    report: {
      subject,
      cases: cases.length,
      real: verdicts.filter(({ isTrue }) => isTrue).length,
      embedded: verdicts.filter(({ problems, differences }) => problems.length === 0 && differences.length === 0)
        .length,
      listed: verdicts.filter(({ problems, differences }) => problems.length === 0 && differences.length > 0).length,
    },
    problems: verdicts.flatMap(({ name, problems }) => problems.map((text) => `${subject} / ${name}: ${text}`)),
    differences: verdicts.flatMap(({ differences }) => differences),
  };
}

/** The recording must match the current output of the real server. */
function staleRecords({ subject, cases }: Subject, recorded: SubjectRuns, fresh: SubjectRuns): readonly string[] {
  return cases.flatMap(({ name }, index) => {
    const [old, now] = [recorded.get(subject)?.[index]?.shown ?? [], fresh.get(subject)?.[index]?.shown ?? []];
    if (equalJson(old, now)) return [];
    const where = differencesOf(old, now)
      .slice(0, 4)
      .join("\n    ")
      .replaceAll(": real ", ": recorded ")
      .replaceAll(" embedded ", " now ");
    return [`${subject} / ${name}: the recording is outdated (npm run conformance -- --record)\n    ${where}`];
  });
}
