/**
 * One invalid part of an input: location, problem and fix.
 *
 * Paths are JSONPath (RFC 9535) from the root of the document: `$.classes[0].key`.
 */
export interface Violation {
  readonly path: string;
  readonly message: string;
  readonly fix?: string;
  /** In the last entry of a limited list: the number of violations that are not listed. */
  readonly omitted?: number;
}

/** Path of the document. */
export const ROOT_PATH = "$";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Longer member names are truncated: a name of megabytes would be in the path of every violation below it. */
const MAX_NAME_LENGTH = 256;

/** Extends a path by object members (strings) and array indexes (numbers). */
export function pathOf(base: string, ...keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, written) => {
    if (typeof written === "number") return `${path}[${written}]`;
    const key = written.length > MAX_NAME_LENGTH ? `${written.slice(0, MAX_NAME_LENGTH)}…` : written;
    if (IDENTIFIER.test(key)) return `${path}.${key}`;
    return `${path}['${key.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}']`;
  }, base);
}

/** Prefixes the paths of violations found in a part of a document. */
export function violationsUnder(base: string, violations: readonly Violation[]): Violation[] {
  return violations.map((violation) => ({
    ...violation,
    path: base + violation.path.slice(ROOT_PATH.length),
  }));
}

/** Formats a violation as one line. */
export function violationText(violation: Violation): string {
  return violation.fix === undefined
    ? `${violation.path}: ${violation.message}`
    : `${violation.path}: ${violation.message}; ${violation.fix}`;
}

/** The most violations that one response lists. */
export const MAX_VIOLATIONS = 100;

/** Keeps the first violations and counts the others in a last entry. A list that was limited before is unchanged. */
export function limitViolations(
  violations: readonly Violation[],
  limit: number = MAX_VIOLATIONS,
): readonly Violation[] {
  if (violations.length <= limit + 1) return violations;
  return [...violations.slice(0, limit), omittedViolations(violations.length - limit)];
}

/** The number of violations that a possibly limited list stands for. */
export function countViolations(violations: readonly Violation[]): number {
  return violations.length - 1 + (violations.at(-1)?.omitted ?? 1);
}

/** One limited list of several, each of which may be limited. */
export function joinViolations(...lists: readonly (readonly Violation[])[]): readonly Violation[] {
  const listed = lists.flatMap((list) => list.filter(({ omitted }) => omitted === undefined));
  const count = lists.reduce((sum, list) => sum + countViolations(list), 0);
  if (count <= MAX_VIOLATIONS + 1 && listed.length === count) return listed;
  const kept = listed.slice(0, MAX_VIOLATIONS);
  return [...kept, omittedViolations(count - kept.length)];
}

/** The last entry of a limited list. */
export function omittedViolations(count: number): Violation {
  return {
    path: ROOT_PATH,
    message: `has ${count} more violations that are not listed`,
    fix: "fix the listed ones first and send it again",
    omitted: count,
  };
}
