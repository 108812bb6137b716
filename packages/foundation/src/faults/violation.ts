/**
 * One invalid part of an input: location, problem and fix.
 *
 * Paths are JSONPath (RFC 9535) from the root of the document: `$.classes[0].key`.
 */
export interface Violation {
  readonly path: string;
  readonly message: string;
  readonly fix?: string;
}

/** Path of the document. */
export const ROOT_PATH = "$";

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Extends a path by object members (strings) and array indexes (numbers). */
export function pathOf(base: string, ...keys: readonly (string | number)[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === "number") return `${path}[${key}]`;
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

/** Keeps the first violations and counts the others in a last entry. */
export function limitViolations(
  violations: readonly Violation[],
  limit: number = MAX_VIOLATIONS,
): readonly Violation[] {
  if (violations.length <= limit) return violations;
  const omitted = violations.length - limit;
  return [
    ...violations.slice(0, limit),
    {
      path: ROOT_PATH,
      message: `has ${omitted} more violations that are not listed`,
      fix: "fix the listed ones first and send it again",
    },
  ];
}
