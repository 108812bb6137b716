import { err, ok, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/*
 * The placeholder language. It only looks up values; it has no loops, no calls and no code:
 *
 *   {{ function.name }}            the value; an error without one
 *   {{ function.max_scale ?? 3 }}  the value, else the literal (a number, "text", true, false, null)
 *   {{ environment.zone? }}        the value, else the member or item is omitted
 *   {{ "{{" }}                     a literal
 *
 * A text of one placeholder becomes the value itself, which may be a number or an object; in other text it is inserted.
 */

export interface Placeholder {
  /** Path to the value; empty for a literal. */
  readonly path: readonly string[];
  readonly optional: boolean;
  readonly fallback?: Literal;
}

type Literal = string | number | boolean | null;

/** A parsed text: text and placeholders, in order. */
export type Pieces = readonly (string | Placeholder)[];

const MAX_TEXT = 65_536;
const OPEN = "{{";
const CLOSE = "}}";
const EXPRESSION =
  /^(?:(?<path>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*|\[(?:"[^"\\]*"|'[^'\\]*')\])*)(?<optional>\?(?!\?))?(?:\s*\?\?\s*(?<fallback>.+))?|(?<literal>.+))$/s;
const LITERAL =
  /^(?:"(?<double>[^"\\]*)"|'(?<single>[^'\\]*)'|(?<number>-?\d{1,15}(?:\.\d{1,9})?)|(?<word>true|false|null))$/;
const STEP = /\.?([A-Za-z_][\w-]*)|\[(?:"([^"\\]*)"|'([^'\\]*)')\]/g;

/** Parses a text, or returns a violation. */
export function parseText(text: string): Result<Pieces, Violation> {
  if (text.length > MAX_TEXT) return syntaxError(`the text has more than ${MAX_TEXT} characters`);
  const pieces: (string | Placeholder)[] = [];
  let from = 0;
  for (;;) {
    const start = text.indexOf(OPEN, from);
    if (start === -1) break;
    const end = findClosing(text, start + OPEN.length);
    if (end === -1) return syntaxError(`"${text.slice(start, start + 40)}" has no closing ${CLOSE}`);
    const placeholder = parseExpression(text.slice(start + OPEN.length, end).trim());
    if (!placeholder.ok) return placeholder;
    if (start > from) pieces.push(text.slice(from, start));
    pieces.push(placeholder.value);
    from = end + CLOSE.length;
  }
  if (from < text.length || pieces.length === 0) pieces.push(text.slice(from));
  return ok(pieces);
}

/** The first `}}` that is not inside quotes. */
function findClosing(text: string, from: number): number {
  let quote = "";
  for (let index = from; index < text.length; index++) {
    const character = text.charAt(index);
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === '"' || character === "'") quote = character;
    else if (text.startsWith(CLOSE, index)) return index;
  }
  return -1;
}

function parseExpression(expression: string): Result<Placeholder, Violation> {
  const groups = EXPRESSION.exec(expression)?.groups;
  const path = groups?.["path"];
  const written = path === undefined || isWord(path) ? (groups?.["literal"] ?? path) : groups?.["fallback"];
  const literal = written === undefined ? undefined : parseLiteral(written.trim());
  if (groups === undefined || (written !== undefined && literal === undefined)) {
    return syntaxError(`"${expression.slice(0, 60)}" is not a placeholder`);
  }
  const isPath = path !== undefined && !isWord(path);
  return ok({
    path: isPath ? stepsOf(path) : [],
    optional: isPath && groups["optional"] !== undefined,
    ...(literal === undefined ? {} : { fallback: literal.value }),
  });
}

function isWord(text: string): boolean {
  return text === "true" || text === "false" || text === "null";
}

function stepsOf(path: string): readonly string[] {
  return [...path.matchAll(STEP)].map(([, name, double, single]) => name ?? double ?? single ?? "");
}

function parseLiteral(text: string): { readonly value: Literal } | undefined {
  const groups = LITERAL.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const { double, single, number, word } = groups;
  if (number !== undefined) return { value: Number(number) };
  if (word !== undefined) return { value: word === "null" ? null : word === "true" };
  return { value: double ?? single ?? "" };
}

function syntaxError(message: string): Result<never, Violation> {
  return err({
    path: ROOT_PATH,
    message,
    fix: 'write {{ path }}, {{ path? }} or {{ path ?? literal }}, and {{ "{{" }} for braces',
  });
}

/** Values of placeholders. */
export interface Scope {
  readonly [name: string]: unknown;
}

/** Marks a member to omit. */
export const OMITTED = Symbol("left out");

/** Evaluates a text: the value of a single placeholder, or the text with all placeholders replaced. */
export function evaluate(pieces: Pieces, scope: Scope): Result<unknown, Violation> {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === "object") return valueOf(only, scope);
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    const value = valueOf(piece, scope);
    if (!value.ok) return value;
    if (value.value === OMITTED) return value;
    text += asText(value.value);
  }
  return ok(text);
}

/** Converts a value to text; everything but text becomes JSON. */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function valueOf({ path, optional, fallback }: Placeholder, scope: Scope): Result<unknown, Violation> {
  let value: unknown = path.length === 0 ? undefined : scope;
  for (const step of path) {
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, step)
        ? (value as Readonly<Record<string, unknown>>)[step]
        : undefined;
  }
  if (value !== undefined) return ok(value);
  if (fallback !== undefined) return ok(fallback);
  if (optional) return ok(OMITTED);
  return err({
    path: ROOT_PATH,
    message: `${path.join(".")} has no value`,
    fix: `write {{ ${path.join(".")}? }} to leave it out, or {{ ${path.join(".")} ?? literal }}`,
  });
}
