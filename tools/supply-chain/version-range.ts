/*
 * The version ranges of advisories: comparators such as `>=1.0.0 <1.2.3`, joined by `||`. Not the ranges of package.json:
 * no carets, no tildes, no wildcards except `*`.
 */

const COMPARATOR = /^(?<operator><=|>=|<|>|=)?\s*v?(?<version>\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)(?:\+\S*)?$/;

const OPERATORS: Readonly<Record<string, (order: number) => boolean>> = {
  "<": (order) => order < 0,
  "<=": (order) => order <= 0,
  ">": (order) => order > 0,
  ">=": (order) => order >= 0,
  "=": (order) => order === 0,
};

/** Whether a version is in a range. An unreadable range contains every version: a finding must not be missed. */
export function isInRange(version: string, range: string): boolean {
  return range.split("||").some((set) => isInSet(version, set.trim()));
}

function isInSet(version: string, set: string): boolean {
  if (set === "" || set === "*") return true;
  const parts = set.replaceAll(/(<=|>=|<|>|=)\s+/g, "$1").split(/[\s,]+/);
  return parts.every((part) => {
    const groups = COMPARATOR.exec(part)?.groups;
    if (groups === undefined) return true;
    const order = compareVersions(version, groups["version"] ?? "");
    return OPERATORS[groups["operator"] ?? "="]?.(order) ?? true;
  });
}

/** Compares by the precedence of semantic versions. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)];
  for (const [index, number] of left.numbers.entries()) {
    const difference = number - (right.numbers[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  if (left.pre === undefined || right.pre === undefined) {
    return Number(left.pre === undefined) - Number(right.pre === undefined);
  }
  return comparePreReleases(left.pre.split("."), right.pre.split("."));
}

function comparePreReleases(a: readonly string[], b: readonly string[]): number {
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    if (left === right) continue;
    const numeric = [left, right].map((part) => /^\d+$/.test(part));
    if (numeric[0] === true && numeric[1] === true) return Math.sign(Number(left) - Number(right));
    if (numeric[0] !== numeric[1]) return numeric[0] === true ? -1 : 1;
    return left < right ? -1 : 1;
  }
  return a.length === b.length ? 0 : -1;
}

function parse(version: string): { readonly numbers: readonly number[]; readonly pre: string | undefined } {
  const [core = "", ...rest] = (version.split("+")[0] ?? "").split("-");
  return { numbers: core.split(".").map(Number), pre: rest.length === 0 ? undefined : rest.join("-") };
}
