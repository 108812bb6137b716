import type { Subject } from "./case.ts";
import { namespaceOf, runCase, type CaseRun } from "./run-case.ts";
import type { Target } from "./target.ts";

/** The output of every case of some subjects on one server, by subject and position. */
export type SubjectRuns = ReadonlyMap<string, readonly CaseRun[]>;

const AT_ONCE = 6;

/** Runs all cases of the subjects concurrently, each in a separate namespace. */
export async function runSubjects(
  target: Target,
  subjects: readonly Subject[],
  isWanted: (name: string) => boolean = () => true,
): Promise<SubjectRuns> {
  const runs = new Map(subjects.map(({ subject }) => [subject, [] as CaseRun[]]));
  const queue = subjects.flatMap(({ subject, cases }) =>
    cases.map((each, index) => ({ subject, testCase: each, index })).filter(({ testCase }) => isWanted(testCase.name)),
  );
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { subject, testCase, index } = next;
      const of = runs.get(subject);
      if (of !== undefined) of[index] = await runCase(target, namespaceOf(subject, index), testCase);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return runs;
}
