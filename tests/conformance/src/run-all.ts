import type { Subject } from "./case.ts";
import { namespaceOf, runCase, type CaseRun } from "./run-case.ts";
import type { Target } from "./target.ts";

/** What every case of some subjects showed on one server, by subject and place. */
export type SubjectRuns = ReadonlyMap<string, readonly CaseRun[]>;

const AT_ONCE = 6;

/** Runs all cases of the subjects, several at a time: each has a namespace of its own. */
export async function runSubjects(
  target: Target,
  subjects: readonly Subject[],
  isWanted: (name: string) => boolean = () => true,
): Promise<SubjectRuns> {
  const runs = new Map(subjects.map(({ subject }) => [subject, [] as CaseRun[]]));
  const queue = subjects.flatMap(({ subject, cases }) =>
    cases.map((told, index) => ({ subject, told, index })).filter(({ told }) => isWanted(told.name)),
  );
  const worker = async (): Promise<void> => {
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { subject, told, index } = next;
      const of = runs.get(subject);
      if (of !== undefined) of[index] = await runCase(target, namespaceOf(subject, index), told);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return runs;
}
