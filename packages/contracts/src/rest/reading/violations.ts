import {
  err,
  limitViolations,
  MAX_VIOLATIONS,
  ok,
  omittedViolations,
  pathOf,
  ROOT_PATH,
  violationsUnder,
  unreachable,
  type Result,
  type Violation,
} from "@oaas/foundation";
import type { z } from "zod";
import { QUANTITY_PATTERN } from "../../crd/v1alpha1/scalars.ts";
import { numberFix, percentageFix } from "./number-hint.ts";

/** Parses a value with a schema, or returns all violations; those beyond the first hundred are counted only. */
export function readBy<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Result<z.output<Schema>, readonly Violation[]> {
  const read = schema.safeParse(value, { reportInput: true });
  if (read.success) return ok(read.data);
  const { issues } = read.error;
  const listed = issues.slice(0, MAX_VIOLATIONS).map(violationFromIssue);
  if (issues.length > listed.length) return err([...listed, omittedViolations(issues.length - listed.length)]);
  return err(limitViolations([...listed, ...(acrossFields.get(schema)?.(value) ?? [])]));
}

const acrossFields = new WeakMap<z.ZodType, DocumentRules>();

/** Violations of rules across fields, for a document whose fields may be invalid. */
type DocumentRules = (document: unknown) => readonly Violation[];

/**
 * Registers rules across the fields of a document that also run when single fields are invalid, so that all violations are
 * reported at once. For a document with valid fields the use case runs the rules.
 */
export function addDocumentRules(schema: z.ZodType, rules: DocumentRules): void {
  acrossFields.set(schema, rules);
}

/** Converts zod issues to violations with path and fix. */
export function violationsFromZod(error: Pick<z.ZodError, "issues">): Violation[] {
  return error.issues.map(violationFromIssue);
}

type Issue = z.core.$ZodIssue;

function violationFromIssue(issue: Issue): Violation {
  const path = pathOf(ROOT_PATH, ...issue.path.map((key) => (typeof key === "symbol" ? String(key) : key)));
  if (issue.code === "custom" && isViolation(issue.params?.["violation"])) {
    return violationsUnder(path, [issue.params["violation"]])[0] as Violation;
  }
  return { path, ...describeIssue(issue, String(issue.path.at(-1) ?? "")) };
}

function isViolation(value: unknown): value is Violation {
  return typeof value === "object" && value !== null && "path" in value && "message" in value;
}

function describeIssue(issue: Issue, fieldName: string): { readonly message: string; readonly fix: string } {
  switch (issue.code) {
    case "custom":
      return { message: issue.message, fix: String(issue.params?.["fix"] ?? "fix the value") };
    case "invalid_type":
      return describeWrongType(issue.expected, issue.input, fieldName);
    case "invalid_value":
      return {
        message: issue.input === undefined ? "is missing" : `${formatValue(issue.input)} is not an allowed value`,
        fix: `use ${orList(issue.values.map(String))}`,
      };
    case "too_big":
      return describeOutOfRange(issue.origin, issue.input, "most", String(issue.maximum));
    case "too_small":
      return describeOutOfRange(issue.origin, issue.input, "least", String(issue.minimum));
    case "invalid_format":
      return describeFormat(issue);
    case "invalid_key": {
      const [inner] = issue.issues;
      return inner === undefined
        ? { message: "has an invalid name", fix: "use another name" }
        : describeIssue(inner, fieldName);
    }
    case "unrecognized_keys":
    case "not_multiple_of":
    case "invalid_element":
    case "invalid_union":
      return { message: issue.message, fix: "fix the value" };
    default:
      return unreachable(issue);
  }
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  nan: "not a number",
};

function describeWrongType(expected: string, input: unknown, fieldName: string) {
  const expectedName = TYPE_NAMES[expected] ?? expected;
  if (input === undefined) return { message: "is missing", fix: `add it: ${expectedName}` };
  const fix = expected === "number" && typeof input === "string" ? numberFix(fieldName, input) : undefined;
  if (fix !== undefined) return { message: `${formatValue(input)} is not a number`, fix };
  return { message: `is ${typeName(input)}`, fix: `use ${expectedName}` };
}

function typeName(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  if (typeof input === "number") return String(input);
  return TYPE_NAMES[typeof input] ?? typeof input;
}

function describeOutOfRange(origin: string, input: unknown, bound: "most" | "least", limit: string) {
  if (origin === "string") return { message: "has an invalid length", fix: `use at ${bound} ${limit} characters` };
  if (origin === "array") return { message: "has an invalid number of items", fix: `use at ${bound} ${limit}` };
  const percentage = bound === "most" && limit === "1" && typeof input === "number" ? percentageFix(input) : undefined;
  return {
    message: `${formatValue(input)} is out of range`,
    fix: `use at ${bound} ${limit}${percentage === undefined ? "" : `: ${percentage}`}`,
  };
}

function describeFormat({ format, input, pattern = "" }: Extract<Issue, { code: "invalid_format" }>) {
  const value = formatValue(input);
  if (format === "datetime")
    return { message: `${value} is not a datetime`, fix: "use an RFC 3339 timestamp such as 2026-01-31T12:00:00Z" };
  if (format !== "regex") return { message: `${value} is not a ${format}`, fix: "fix the format" };
  return pattern === String(QUANTITY_PATTERN)
    ? { message: `${value} is not a quantity`, fix: "use a quantity such as 500m, 1.5 or 512Mi" }
    : { message: `${value} does not match the pattern ${pattern}`, fix: "use a value of this pattern" };
}

/** A value for an error message: as JSON, truncated. */
export function formatValue(input: unknown): string {
  const written = typeof input === "bigint" ? String(input) : (JSON.stringify(input) ?? "nothing");
  return written.length > 40 ? `${written.slice(0, 39)}…` : written;
}

function orList(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
