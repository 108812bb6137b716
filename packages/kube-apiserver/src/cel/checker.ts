import { LIBRARY, NOT_SUPPORTED, TYPE_NAMES } from "./functions/library.ts";
import type { Overload } from "./functions/overload.ts";
import type { CelSyntaxError, Expr } from "./syntax/syntax.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  applyBindings,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  typeOf,
  formatType,
  UINT,
  unify,
  type Bindings,
  type CelType,
} from "./values/types.ts";
import { CelError, type CelValue } from "./values/values.ts";

/** The meaning of names in an expression. */
export type Scope = ReadonlyMap<string, CelType>;

const LITERALS: Readonly<Record<string, CelType>> = {
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  bool: BOOL,
  null_type: NULL,
};

/** Conversions whose literal argument is checked at compile time. */
const CHECKED_LITERALS: ReadonlySet<string> = new Set(["matches", "timestamp", "duration"]);

/** The type of an expression and all its errors. */
export function checkCel(
  expr: Expr,
  scope: Scope,
): { readonly type: CelType; readonly errors: readonly CelSyntaxError[] } {
  const checker = new Checker();
  const type = checker.checkType(expr, scope);
  return { type, errors: checker.errors };
}

class Checker {
  readonly errors: CelSyntaxError[] = [];

  checkType(expr: Expr, scope: Scope): CelType {
    switch (expr.is) {
      case "literal":
        return LITERALS[expr.literal.type] ?? DYN;
      case "name":
        return this.#checkName(expr, scope);
      case "select":
      case "has": {
        const field = this.#checkField(expr, this.checkType(expr.of, scope));
        return expr.is === "has" ? BOOL : field;
      }
      case "call":
        return this.#checkCall(expr, scope);
      case "list":
        return listOf(this.#checkCommonType(expr.items, scope));
      case "map": {
        const keys = expr.entries.map(([key]) => key);
        const values = expr.entries.map(([, value]) => value);
        return mapOf(this.#checkCommonType(keys, scope), this.#checkCommonType(values, scope));
      }
      case "loop":
        return this.#checkLoop(expr, scope);
    }
  }

  #reportError(at: number, text: string): CelType {
    this.errors.push({ at, text });
    return DYN;
  }

  #checkName({ at, name }: Expr & { is: "name" }, scope: Scope): CelType {
    const declared = scope.get(name);
    if (declared) return declared;
    const type = TYPE_NAMES.get(name);
    return type ? typeOf(type) : this.#reportUnknown(at, name);
  }

  #reportUnknown(at: number, name: string): CelType {
    return this.#reportError(
      at,
      NOT_SUPPORTED.has(name)
        ? `'${name}' is not supported by this server`
        : `undeclared reference to '${name}' (in container '')`,
    );
  }

  #checkField({ at, field }: Expr & { is: "select" | "has" }, of: CelType): CelType {
    if (of.fields) return of.fields.get(field)?.type ?? this.#reportError(at, `undefined field '${field}'`);
    if (of.name === "map") return of.of?.[1] ?? DYN;
    return of.name === "dyn" ? DYN : this.#reportError(at, `type '${formatType(of)}' does not support field selection`);
  }

  /** The common type; each value of another type than the first is reported. */
  #checkCommonType(items: readonly Expr[], scope: Scope): CelType {
    const [first, ...rest] = items;
    if (!first) return DYN;
    let common = this.checkType(first, scope);
    for (const item of rest) {
      const type = this.checkType(item, scope);
      if (common.name === "dyn") common = type;
      else if (!unify(common, type, new Map())) this.#reportMismatch(item, common, type);
    }
    return common;
  }

  #reportMismatch(expr: Expr, expected: CelType, found: CelType): void {
    this.#reportError(expr.at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  #checkBoolean(expr: Expr, scope: Scope): void {
    const type = this.checkType(expr, scope);
    if (type.name !== "bool" && type.name !== "dyn") this.#reportMismatch(expr, BOOL, type);
  }

  #checkCall(expr: Expr & { is: "call" }, scope: Scope): CelType {
    const { name, at, target, args } = expr;
    if (name === "_&&_" || name === "_||_") {
      for (const each of args) this.#checkBoolean(each, scope);
      return BOOL;
    }
    if (target?.is === "name" && !scope.has(target.name) && NOT_SUPPORTED.has(target.name)) {
      return this.#reportUnknown(target.at, target.name);
    }
    const types = [...(target ? [target] : []), ...args].map((each) => this.checkType(each, scope));
    if (name === "_?_:_") return this.#checkConditional(at, types);
    const overloads = LIBRARY.get(name);
    if (!overloads) return this.#reportUnknown(at, name);
    const isMethod = target !== undefined;
    const results = overloads
      .filter((overload) => overload.isMethod === isMethod)
      .flatMap((overload) => resolveOverload(overload, types));
    const [result] = results;
    if (!result) return this.#reportError(at, formatNoOverload(name, isMethod, types));
    this.#checkLiteral(expr);
    return results.some((other) => other.name !== result.name) ? DYN : result;
  }

  #checkConditional(at: number, types: readonly CelType[]): CelType {
    const [test = DYN, then = DYN, otherwise = DYN] = types;
    const isTest = test.name === "bool" || test.name === "dyn";
    if (!isTest || !unify(then, otherwise, new Map()))
      return this.#reportError(at, formatNoOverload("_?_:_", false, types));
    return then.name === "dyn" ? otherwise : then;
  }

  /** Errors that do not depend on the object: an invalid pattern or time. */
  #checkLiteral({ name, args }: Expr & { is: "call" }): void {
    const literal = args.at(-1);
    if (!CHECKED_LITERALS.has(name) || literal?.is !== "literal" || literal.literal.type !== "string") return;
    const text = literal.literal.value;
    const overload = LIBRARY.get(name)?.find(({ params }) => params.at(-1) === STRING);
    const result = overload?.run(...((name === "matches" ? ["", text] : [text]) as CelValue[] as never[]));
    if (result instanceof CelError) this.#reportError(literal.at, `invalid ${name} argument`);
  }

  #checkLoop(expr: Expr & { is: "loop" }, scope: Scope): CelType {
    const { kind, over, variable, test, output, at } = expr;
    const range = this.checkType(over, scope);
    const isLoopable = range.name === "list" || range.name === "map" || range.name === "dyn";
    if (!isLoopable) {
      this.#reportError(
        over.at,
        `expression of type '${formatType(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    }
    const item = range.of?.[0] ?? DYN;
    const inner = new Map([...scope, [variable, item]]);
    if (test) this.#checkBoolean(test, inner);
    if (kind === "map")
      return listOf(output ? this.checkType(output, inner) : this.#reportError(at, "missing map expression"));
    return kind === "filter" ? listOf(item) : BOOL;
  }
}

function resolveOverload({ params, result }: Overload, types: readonly CelType[]): readonly CelType[] {
  if (params.length !== types.length) return [];
  let bindings: Bindings | undefined = new Map<string, CelType>();
  for (const [index, type] of types.entries()) {
    bindings = bindings && unify(params[index] ?? DYN, type, bindings);
  }
  return bindings ? [applyBindings(result, bindings)] : [];
}

function formatNoOverload(name: string, isMethod: boolean, types: readonly CelType[]): string {
  const [first = DYN, ...rest] = types;
  const texts = (isMethod ? rest : types).map(formatType).join(", ");
  const applied = isMethod ? `${formatType(first)}.(${texts})` : `(${texts})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}
