import { equalJson, isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";
import type { Case } from "./case.ts";
import type { CaseRun } from "./run-case.ts";

/** The result of a case on both servers. */
export interface Verdict {
  /** Unexpected results as text; empty when the case passes. */
  readonly problems: readonly string[];
  /** Ids of listed differences that showed. */
  readonly differences: readonly string[];
}

/**
 * Compares the output of both servers. A listed difference must show in the steps that `differs` names by number, and
 * no other difference may show.
 */
export function judge(
  { steps }: Case,
  real: CaseRun,
  embedded: CaseRun,
  differs: ReadonlyMap<number, string>,
): Verdict {
  const problems = real.broken.map((text) => `real: ${text}`);
  const differences: string[] = [];
  let isExplained = false;
  for (const index of steps.keys()) {
    const id = differs.get(index + 1);
    const [theirs, ours] = [real.shown[index], embedded.shown[index]];
    if (theirs === undefined && ours === undefined) continue;
    const isEqual = theirs !== undefined && ours !== undefined && equalJson(theirs, ours);
    if (isEqual && id !== undefined) problems.push(`step ${index + 1}: difference ${id} no longer shows`);
    if (isEqual) continue;
    if (id === undefined) {
      problems.push(`step ${index + 1}: ${differencesOf(theirs, ours).slice(0, 8).join("\n      ")}`);
    } else {
      differences.push(id);
      isExplained = true;
    }
  }
  // A listed difference may violate the expectation of a step.
  if (!isExplained) problems.push(...embedded.broken.map((text) => `embedded: ${text}`));
  return { problems, differences };
}

/** The differences of two values, one line each. */
export function differencesOf(
  real: JsonValue | undefined,
  embedded: JsonValue | undefined,
  path = "",
): readonly string[] {
  if (real !== undefined && embedded !== undefined && equalJson(real, embedded)) return [];
  if (isJsonObject(real ?? null) && isJsonObject(embedded ?? null)) {
    const [a, b] = [real, embedded] as [Record<string, JsonValue>, Record<string, JsonValue>];
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return keys.flatMap((key) => differencesOf(a[key], b[key], `${path}.${key}`));
  }
  if (isJsonArray(real ?? null) && isJsonArray(embedded ?? null)) {
    const [a, b] = [real, embedded] as [readonly JsonValue[], readonly JsonValue[]];
    const length = Math.max(a.length, b.length);
    return Array.from({ length }, (_, index) => differencesOf(a[index], b[index], `${path}[${index}]`)).flat();
  }
  return [`${path || "."}: real ${textOf(real)} embedded ${textOf(embedded)}`];
}

function textOf(value: JsonValue | undefined): string {
  return value === undefined ? "nothing" : JSON.stringify(value).slice(0, 500);
}
