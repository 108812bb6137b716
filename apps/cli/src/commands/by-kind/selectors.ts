import { UsageError } from "../../exit-code.ts";
import { jsonPathValues, jsonPathValueText } from "../../output/jsonpath.ts";
import { splitOutside } from "../../output/split-outside.ts";

/** Whether an object matches one requirement of a selector. */
type Requirement<T> = (subject: T) => boolean;

export type Labels = Readonly<Record<string, string>>;

/** Splits at commas outside parentheses. */
function splitTerms(text: string): readonly string[] {
  return splitOutside(text, ["(", ")"])
    .map((term) => term.trim())
    .filter((term) => term !== "");
}

/** Parses a label selector of Kubernetes: `env=edge,zone!=b,tier in (a, b),owner,!retired`. */
export function parseLabelSelector(text: string): Requirement<Labels> {
  const requirements = splitTerms(text).map(parseLabelTerm);
  return (labels) => requirements.every((holds) => holds(labels));
}

const SET = /^(?<key>[^\s!=<>(),]+)\s+(?<operator>in|notin)\s+\((?<values>[^()]*)\)$/;
const EQUALITY = /^(?<key>[^\s!=<>(),]+)\s*(?<operator>==|=|!=)\s*(?<value>[^\s!=<>(),]*)$/;
const EXISTENCE = /^(?<not>!?)\s*(?<key>[^\s!=<>(),]+)$/;

function parseLabelTerm(term: string): Requirement<Labels> {
  const set = SET.exec(term)?.groups;
  if (set) return isOneOf(set["key"] ?? "", splitTerms(set["values"] ?? ""), set["operator"] === "in");
  const equality = EQUALITY.exec(term)?.groups;
  if (equality) return isOneOf(equality["key"] ?? "", [equality["value"] ?? ""], equality["operator"] !== "!=");
  const { not, key } = EXISTENCE.exec(term)?.groups ?? {};
  if (key !== undefined) return (labels) => Object.hasOwn(labels, key) === (not === "");
  throw new UsageError(
    `--selector: "${term}" is not a requirement`,
    "use key=value, key!=value, key in (a, b), key notin (a, b), key or !key, separated by commas",
  );
}

function isOneOf(key: string, values: readonly string[], isExpected: boolean): Requirement<Labels> {
  return (labels) => (Object.hasOwn(labels, key) && values.includes(labels[key] ?? "")) === isExpected;
}

/** Parses a field selector: `package_name=shop,condition!=Running`. Ignores case, because old and new words differ in it. */
export function parseFieldSelector(text: string): Requirement<unknown> {
  const requirements = splitTerms(text).map(parseFieldTerm);
  return (item) => requirements.every((holds) => holds(item));
}

function parseFieldTerm(term: string): Requirement<unknown> {
  const found = /==|!=|=/.exec(term);
  const [operator, index] = [found?.[0] ?? "", found?.index ?? 0];
  const path = term.slice(0, index).trim();
  const value = term.slice(index + operator.length).trim();
  if (path === "")
    throw new UsageError(`--field-selector: "${term}" is not a requirement`, "use field=value or field!=value");
  const isEqual = (actual: unknown): boolean => jsonPathValueText(actual).toLowerCase() === value.toLowerCase();
  return (item) => jsonPathValues(path, item).some(isEqual) === (operator !== "!=");
}

/** Sorts by the first value of a path; items without it come last. */
export function sortByPath<T>(items: readonly T[], path: string, plural: string): readonly T[] {
  const keyed = items.map((item) => ({ item, key: jsonPathValues(path, item)[0] ?? undefined }));
  if (items.length > 0 && keyed.every(({ key }) => key === undefined))
    throw new UsageError(`--sort-by: no ${plural} have the field "${path}"`, "see their fields with -o json");
  return keyed.toSorted((a, b) => compareValues(a.key, b.key)).map(({ item }) => item);
}

function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const [left, right] = [jsonPathValueText(a), jsonPathValueText(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
