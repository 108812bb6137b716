/**
 * One thing that is wrong with an input: where, what, and how to put it right.
 *
 * Paths are JSONPath (RFC 9535) from the root of the document: `$.classes[0].key`.
 */
export interface Violation {
  readonly path: string;
  readonly message: string;
  readonly fix?: string;
}

/** The path of the document itself. */
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

/** Moves violations found in a part to their place in the whole. */
export function violationsUnder(base: string, violations: readonly Violation[]): Violation[] {
  return violations.map((violation) => ({
    ...violation,
    path: base + violation.path.slice(ROOT_PATH.length),
  }));
}

/** One line per violation, for people. */
export function violationText(violation: Violation): string {
  return violation.fix === undefined
    ? `${violation.path}: ${violation.message}`
    : `${violation.path}: ${violation.message}; ${violation.fix}`;
}
