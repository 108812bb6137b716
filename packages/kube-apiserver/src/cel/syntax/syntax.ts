/**
 * A parsed expression. `at` is its position in the text, for messages: an operator, a bracket, a dot, or the first
 * letter.
 */
export type Expr =
  | { readonly is: "literal"; readonly at: number; readonly literal: Literal }
  | { readonly is: "name"; readonly at: number; readonly name: string }
  | { readonly is: "select"; readonly at: number; readonly of: Expr; readonly field: string }
  | { readonly is: "has"; readonly at: number; readonly of: Expr; readonly field: string }
  | {
      readonly is: "call";
      readonly at: number;
      readonly name: string;
      readonly target?: Expr;
      readonly args: readonly Expr[];
    }
  | { readonly is: "list"; readonly at: number; readonly items: readonly Expr[] }
  | { readonly is: "map"; readonly at: number; readonly entries: readonly (readonly [Expr, Expr])[] }
  | Comprehension;

/** A loop over a list's items or a map's keys. */
export interface Comprehension {
  readonly is: "loop";
  readonly at: number;
  readonly kind: LoopKind;
  readonly over: Expr;
  readonly variable: string;
  /** The condition, or the filter of a map with three arguments. */
  readonly test?: Expr;
  /** The expression for each item. */
  readonly output?: Expr;
}

export type LoopKind = "all" | "exists" | "exists_one" | "map" | "filter";

export type Literal =
  | { readonly type: "int" | "uint"; readonly value: bigint }
  | { readonly type: "double"; readonly value: number }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "bytes"; readonly value: Uint8Array }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "null_type"; readonly value: null };

/** An error in an expression, with its position. */
export interface CelSyntaxError {
  readonly at: number;
  readonly text: string;
}

/** The operators' names in the server's messages. */
export const OPERATOR_NAMES: Readonly<Record<string, string>> = {
  "||": "_||_",
  "&&": "_&&_",
  "==": "_==_",
  "!=": "_!=_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  in: "@in",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
};

/** All errors in the server's format: each with its source line and a pointer below. */
export function formatErrors(source: string, errors: readonly CelSyntaxError[]): string {
  return [...errors]
    .sort((a, b) => a.at - b.at)
    .map(({ at, text }) => {
      const before = source.slice(0, at).split("\n");
      const line = before.length;
      const column = Array.from(before.at(-1) ?? "").length;
      const sourceLine = source.split("\n")[line - 1] ?? "";
      return `ERROR: <input>:${line}:${column + 1}: ${text}\n | ${sourceLine}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
