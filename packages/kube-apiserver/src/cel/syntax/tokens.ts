import { err, ok, type Result } from "@oaas/foundation";
import type { CelSyntaxError, Literal } from "./syntax.ts";

export type Token =
  | { readonly is: "literal"; readonly at: number; readonly text: string; readonly literal: Literal }
  | { readonly is: "name" | "symbol" | "end"; readonly at: number; readonly text: string };

const SPACE = /(?:[\t\n\f\r ]|\/\/[^\n]*)+/y;
const NAME = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const NUMBER = /0x[0-9a-fA-F]+u?|(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|\d+u?/y;
const STRING =
  /(?<prefix>[bB]?[rR]?|[rR][bB])(?:"""(?<long>(?:\\[\s\S]|(?!""")[^\\])*)"""|'''(?<longer>(?:\\[\s\S]|(?!''')[^\\])*)'''|"(?<double>(?:\\.|[^"\\\n\r])*)"|'(?<single>(?:\\.|[^'\\\n\r])*)')/y;
const RAW_STRING =
  /(?<prefix>[bB]?[rR]|[rR][bB])(?:"""(?<long>(?:(?!""")[^])*)"""|'''(?<longer>(?:(?!''')[^])*)'''|"(?<double>[^"\n\r]*)"|'(?<single>[^'\n\r]*)')/y;
const SYMBOL = /&&|\|\||==|!=|<=|>=|[<>+\-*/%!?:.,()[\]{}]/y;

const WORDS: Readonly<Record<string, Literal>> = {
  true: { type: "bool", value: true },
  false: { type: "bool", value: false },
  null: { type: "null_type", value: null },
};

/** The tokens of an expression; the last one marks its end. */
export function tokenize(source: string): Result<readonly Token[], CelSyntaxError> {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(source) ?? undefined;
  };
  while (at < source.length) {
    const found = match(SPACE);
    if (found) {
      at += found[0].length;
      continue;
    }
    const token = readStringToken(match(RAW_STRING) ?? match(STRING), at) ?? readToken(match, at);
    if (token === undefined) {
      return err({ at, text: `Syntax error: token recognition error at: '${getErrorExcerpt(source.slice(at))}'` });
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ is: "end", at, text: "<EOF>" });
  return ok(tokens);
}

/** The length of the server's error excerpt: a string to its end, a partial operator with the next character. */
function getErrorExcerpt(rest: string): string {
  if (/^["']/.test(rest)) return rest;
  return rest.slice(0, /^[=&|]/.test(rest) ? 2 : 1);
}

function readToken(match: (pattern: RegExp) => RegExpExecArray | undefined, at: number): Token | undefined {
  const name = match(NAME)?.[0];
  if (name !== undefined) {
    const literal = Object.hasOwn(WORDS, name) ? WORDS[name] : undefined;
    return literal ? { is: "literal", at, text: name, literal } : { is: "name", at, text: name };
  }
  const number = match(NUMBER)?.[0];
  if (number !== undefined) return { is: "literal", at, text: number, literal: parseNumber(number) };
  const symbol = match(SYMBOL)?.[0];
  return symbol === undefined ? undefined : { is: "symbol", at, text: symbol };
}

function parseNumber(text: string): Literal {
  const isUnsigned = text.endsWith("u");
  if (isUnsigned) return { type: "uint", value: BigInt(text.slice(0, -1)) };
  return /^(?:0x|\d+$)/.test(text) ? { type: "int", value: BigInt(text) } : { type: "double", value: Number(text) };
}

function readStringToken(found: RegExpExecArray | undefined, at: number): Token | undefined {
  if (!found?.groups) return undefined;
  const { prefix = "", long, longer, double, single } = found.groups;
  const raw = long ?? longer ?? double ?? single ?? "";
  const isBytes = /b/i.test(prefix);
  const value = /r/i.test(prefix) ? raw : unescape(raw, isBytes);
  if (value === undefined) return undefined;
  // Escapes in bytes literals are bytes; everything else is UTF-8.
  const literal: Literal = isBytes
    ? { type: "bytes", value: typeof value === "string" ? new TextEncoder().encode(value) : value }
    : { type: "string", value: value as string };
  return { is: "literal", at, text: found[0], literal };
}

const ESCAPE =
  /\\(?:x(?<x>[0-9a-fA-F]{2})|u(?<u>[0-9a-fA-F]{4})|U(?<U>[0-9a-fA-F]{8})|(?<octal>[0-3][0-7]{2})|(?<one>[\s\S]))/g;
const ONES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "'": "'",
  "`": "`",
  "?": "?",
  "\\": "\\",
};

function unescape(text: string, isBytes: boolean): string | Uint8Array | undefined {
  let isInvalid = false;
  const parts: (string | number)[] = [];
  let last = 0;
  for (const found of text.matchAll(ESCAPE)) {
    parts.push(text.slice(last, found.index));
    last = found.index + found[0].length;
    const { x, u, U, octal, one = "" } = found.groups ?? {};
    const code = x !== undefined ? parseInt(x, 16) : octal !== undefined ? parseInt(octal, 8) : undefined;
    const point = u ?? U;
    if (code !== undefined) parts.push(isBytes ? code : String.fromCodePoint(code));
    else if (point !== undefined && parseInt(point, 16) <= 0x10ffff)
      parts.push(String.fromCodePoint(parseInt(point, 16)));
    else if (Object.hasOwn(ONES, one)) parts.push(ONES[one] ?? "");
    else isInvalid = true;
  }
  parts.push(text.slice(last));
  if (isInvalid) return undefined;
  if (!isBytes) return parts.join("");
  const encoder = new TextEncoder();
  return Uint8Array.from(parts.flatMap((part) => (typeof part === "number" ? [part] : [...encoder.encode(part)])));
}
