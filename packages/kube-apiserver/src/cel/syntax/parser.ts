import { err, ok, type Result } from "@oaas/foundation";
import { OPERATOR_NAMES, type CelSyntaxError, type Comprehension, type Expr, type LoopKind } from "./syntax.ts";
import { tokenize, type Token } from "./tokens.ts";

const EXPECTED =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** Left-associative operators from lowest to highest precedence. */
const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!=", "<", "<=", ">", ">=", "in"],
  ["+", "-"],
  ["*", "/", "%"],
];

const LOOPS: readonly LoopKind[] = ["all", "exists", "exists_one", "map", "filter"];

/** Maximum nesting, as in the real server, so that no input exhausts the stack. */
const MAX_DEPTH = 250;

const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64_MAX = 2n ** 64n - 1n;

/** Parses an expression. Macros are expanded: the result has loops and `has` in place of calls. */
export function parseCel(source: string): Result<Expr, readonly CelSyntaxError[]> {
  const tokens = tokenize(source);
  if (!tokens.ok) return err([tokens.error]);
  try {
    return ok(new Parser(tokens.value).parse());
  } catch (thrown) {
    if (thrown instanceof ParseError) return err([thrown.error]);
    throw thrown;
  }
}

/** Leaves the recursive descent at the first error; does not leave this file. */
class ParseError extends Error {
  readonly error: CelSyntaxError;
  constructor(error: CelSyntaxError) {
    super(error.text);
    this.error = error;
  }
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expr {
    const expr = this.#parseConditional();
    const { is, at, text } = this.#peek();
    if (is !== "end") throw createParseError(at, `Syntax error: extraneous input '${text}' expecting <EOF>`);
    return expr;
  }

  #parseConditional(): Expr {
    this.#depth += 1;
    const test = this.#parseBinary(0);
    if (this.#depth > MAX_DEPTH) throw createParseError(test.at, "expression recursion limit exceeded: 250");
    const mark = this.#accept("?");
    this.#depth -= 1;
    if (!mark) return test;
    const then = this.#parseBinary(0);
    this.#expect(":");
    const otherwise = this.#parseConditional();
    return { is: "call", at: mark.at, name: "_?_:_", args: [test, then, otherwise] };
  }

  #parseBinary(level: number): Expr {
    const operators = LEVELS[level];
    if (!operators) return this.#parseUnary();
    let left = this.#parseBinary(level + 1);
    for (;;) {
      const { is, text, at } = this.#peek();
      if (is === "end" || is === "literal" || !operators.includes(text)) return left;
      this.#next += 1;
      const right = this.#parseBinary(level + 1);
      left = { is: "call", at, name: OPERATOR_NAMES[text] ?? text, args: [left, right] };
    }
  }

  #parseUnary(): Expr {
    const sign = this.#accept("!") ?? this.#accept("-");
    if (!sign) return this.#parseMember(this.#parsePrimary());
    if (sign.text === "-") {
      const { is, ...number } = this.#peek();
      if (
        is === "literal" &&
        "literal" in number &&
        (number.literal.type === "int" || number.literal.type === "double")
      ) {
        this.#next += 1;
        const { type } = number.literal;
        const value = -number.literal.value;
        return this.#parseMember(checkLiteralRange({ is: "literal", at: sign.at, literal: { type, value } as never }));
      }
    }
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw createParseError(sign.at, "expression recursion limit exceeded: 250");
    const operand = this.#parseUnary();
    this.#depth -= 1;
    return { is: "call", at: sign.at, name: sign.text === "!" ? "!_" : "-_", args: [operand] };
  }

  #parseMember(start: Expr): Expr {
    let of = start;
    for (;;) {
      const dot = this.#accept(".");
      const bracket = dot ? undefined : this.#accept("[");
      if (dot) of = this.#parseSelection(of, dot.at);
      else if (bracket) {
        if (this.#peek().text === "?") throw createParseError(bracket.at, UNSUPPORTED_OPTIONALS);
        const index = this.#parseConditional();
        this.#expect("]");
        of = { is: "call", at: bracket.at, name: "_[_]", args: [of, index] };
      } else return of;
    }
  }

  #parseSelection(of: Expr, at: number): Expr {
    const token = this.#peek();
    if (token.text === "?") throw createParseError(at, UNSUPPORTED_OPTIONALS);
    if (token.is !== "name" || token.text === "in") {
      throw createParseError(token.at, `Syntax error: no viable alternative at input '.${token.text}'`);
    }
    this.#next += 1;
    const open = this.#accept("(");
    if (!open) return { is: "select", at, of, field: token.text };
    const args = this.#parseList(")");
    return expandLoop(of, token.text, args, open.at) ?? { is: "call", at: open.at, name: token.text, target: of, args };
  }

  #parsePrimary(): Expr {
    const token = this.#peek();
    const { at, text } = token;
    this.#next += 1;
    if (token.is === "literal") return checkLiteralRange({ is: "literal", at, literal: token.literal });
    if (token.is === "name" && text !== "in") return this.#parseName(text, at);
    if (text === "(") {
      const inner = this.#parseConditional();
      this.#expect(")");
      return inner;
    }
    if (text === "[") return { is: "list", at, items: this.#parseList("]") };
    if (text === "{") return { is: "map", at, entries: this.#parseEntries() };
    const kind = token.is === "end" ? "mismatched" : "extraneous";
    throw createParseError(at, `Syntax error: ${kind} input '${text}' expecting ${EXPECTED}`);
  }

  #parseName(name: string, at: number): Expr {
    const open = this.#accept("(");
    if (!open) return { is: "name", at, name };
    const args = this.#parseList(")");
    if (name !== "has") return { is: "call", at: open.at, name, args };
    const [of] = args;
    if (args.length !== 1 || of?.is !== "select")
      throw createParseError(of?.at ?? open.at, "invalid argument to has() macro");
    return { is: "has", at: open.at, of: of.of, field: of.field };
  }

  /** Items up to the closing bracket; a list may have a trailing comma. */
  #parseList(close: ")" | "]"): readonly Expr[] {
    const items: Expr[] = [];
    while (!this.#accept(close)) {
      items.push(this.#parseConditional());
      if (!this.#accept(",")) {
        this.#expect(close);
        break;
      }
    }
    return items;
  }

  #parseEntries(): readonly (readonly [Expr, Expr])[] {
    const entries: (readonly [Expr, Expr])[] = [];
    while (!this.#accept("}")) {
      const key = this.#parseConditional();
      this.#expect(":");
      entries.push([key, this.#parseConditional()]);
      if (!this.#accept(",")) {
        this.#expect("}");
        break;
      }
    }
    return entries;
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? { is: "end", at: 0, text: "<EOF>" };
  }

  #accept(symbol: string): Token | undefined {
    const token = this.#peek();
    if (token.is !== "symbol" || token.text !== symbol) return undefined;
    this.#next += 1;
    return token;
  }

  #expect(symbol: string): void {
    const { at, text } = this.#peek();
    if (!this.#accept(symbol)) throw createParseError(at, `Syntax error: missing '${symbol}' at '${text}'`);
  }
}

const UNSUPPORTED_OPTIONALS = "optional values (.?, [?]) are not supported by this server";

function createParseError(at: number, text: string): ParseError {
  return new ParseError({ at, text });
}

function checkLiteralRange(expr: Expr & { readonly is: "literal" }): Expr {
  const { type, value } = expr.literal;
  const isInt = type === "int" && (value < INT64.min || value > INT64.max);
  const isUint = type === "uint" && value > UINT64_MAX;
  if (isInt || isUint) throw createParseError(expr.at, `invalid ${type} literal`);
  return expr;
}

/** Loops look like calls; with other numbers of arguments they stay calls of unknown functions. */
function expandLoop(over: Expr, name: string, args: readonly Expr[], at: number): Comprehension | undefined {
  const kind = LOOPS.find((loop) => loop === name);
  const [variable, first, second] = args;
  const isThree = args.length === 3;
  if (kind === undefined || variable === undefined || first === undefined) return undefined;
  if (isThree && kind !== "map") {
    throw createParseError(variable.at, "loops over two variables are not supported by this server");
  }
  if (args.length > 3) return undefined;
  if (variable.is !== "name") throw createParseError(variable.at, "argument must be a simple name");
  const loop = { is: "loop", at, kind, over, variable: variable.name } as const;
  if (kind !== "map") return { ...loop, test: first };
  return second === undefined ? { ...loop, output: first } : { ...loop, test: first, output: second };
}
