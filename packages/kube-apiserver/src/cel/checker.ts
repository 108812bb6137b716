import { LIBRARY, NOT_SUPPORTED, TYPE_NAMES } from "./functions/library.ts";
import type { Overload } from "./functions/overload.ts";
import type { CelProblem, Expr } from "./syntax/syntax.ts";
import {
  BOOL,
  BYTES,
  DOUBLE,
  DYN,
  filledIn,
  INT,
  listOf,
  mapOf,
  NULL,
  STRING,
  typeOf,
  typeText,
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
const LOOKED_AT: ReadonlySet<string> = new Set(["matches", "timestamp", "duration"]);

/** The type of an expression and all its errors. */
export function checkCel(
  expr: Expr,
  scope: Scope,
): { readonly type: CelType; readonly problems: readonly CelProblem[] } {
  const checker = new Checker();
  const type = checker.typeOf(expr, scope);
  return { type, problems: checker.problems };
}

class Checker {
  readonly problems: CelProblem[] = [];

  typeOf(expr: Expr, scope: Scope): CelType {
    switch (expr.is) {
      case "literal":
        return LITERALS[expr.literal.type] ?? DYN;
      case "name":
        return this.#name(expr, scope);
      case "select":
      case "has": {
        const field = this.#field(expr, this.typeOf(expr.of, scope));
        return expr.is === "has" ? BOOL : field;
      }
      case "call":
        return this.#call(expr, scope);
      case "list":
        return listOf(this.#common(expr.items, scope));
      case "map": {
        const keys = expr.entries.map(([key]) => key);
        const values = expr.entries.map(([, value]) => value);
        return mapOf(this.#common(keys, scope), this.#common(values, scope));
      }
      case "loop":
        return this.#loop(expr, scope);
    }
  }

  #refuse(at: number, text: string): CelType {
    this.problems.push({ at, text });
    return DYN;
  }

  #name({ at, name }: Expr & { is: "name" }, scope: Scope): CelType {
    const known = scope.get(name);
    if (known) return known;
    const type = TYPE_NAMES.get(name);
    return type ? typeOf(type) : this.#unknown(at, name);
  }

  #unknown(at: number, name: string): CelType {
    return this.#refuse(
      at,
      NOT_SUPPORTED.has(name)
        ? `'${name}' is not supported by this server`
        : `undeclared reference to '${name}' (in container '')`,
    );
  }

  #field({ at, field }: Expr & { is: "select" | "has" }, of: CelType): CelType {
    if (of.fields) return of.fields.get(field)?.type ?? this.#refuse(at, `undefined field '${field}'`);
    if (of.name === "map") return of.of?.[1] ?? DYN;
    return of.name === "dyn" ? DYN : this.#refuse(at, `type '${typeText(of)}' does not support field selection`);
  }

  /** The common type; each value of another type than the first is reported. */
  #common(items: readonly Expr[], scope: Scope): CelType {
    const [first, ...rest] = items;
    if (!first) return DYN;
    let common = this.typeOf(first, scope);
    for (const item of rest) {
      const type = this.typeOf(item, scope);
      if (common.name === "dyn") common = type;
      else if (!unify(common, type, new Map())) this.#expected(item, common, type);
    }
    return common;
  }

  #expected(expr: Expr, wanted: CelType, found: CelType): void {
    this.#refuse(expr.at, `expected type '${typeText(wanted)}' but found '${typeText(found)}'`);
  }

  #boolean(expr: Expr, scope: Scope): void {
    const type = this.typeOf(expr, scope);
    if (type.name !== "bool" && type.name !== "dyn") this.#expected(expr, BOOL, type);
  }

  #call(expr: Expr & { is: "call" }, scope: Scope): CelType {
    const { name, at, target, args } = expr;
    if (name === "_&&_" || name === "_||_") {
      for (const each of args) this.#boolean(each, scope);
      return BOOL;
    }
    if (target?.is === "name" && !scope.has(target.name) && NOT_SUPPORTED.has(target.name)) {
      return this.#unknown(target.at, target.name);
    }
    const types = [...(target ? [target] : []), ...args].map((each) => this.typeOf(each, scope));
    if (name === "_?_:_") return this.#choice(at, types);
    const overloads = LIBRARY.get(name);
    if (!overloads) return this.#unknown(at, name);
    const isMethod = target !== undefined;
    const results = overloads
      .filter((overload) => overload.isMethod === isMethod)
      .flatMap((overload) => resultOf(overload, types));
    const [result] = results;
    if (!result) return this.#refuse(at, noOverload(name, isMethod, types));
    this.#literals(expr);
    return results.some((other) => other.name !== result.name) ? DYN : result;
  }

  #choice(at: number, types: readonly CelType[]): CelType {
    const [test = DYN, then = DYN, otherwise = DYN] = types;
    const isTest = test.name === "bool" || test.name === "dyn";
    if (!isTest || !unify(then, otherwise, new Map())) return this.#refuse(at, noOverload("_?_:_", false, types));
    return then.name === "dyn" ? otherwise : then;
  }

  /** Errors that do not depend on the object: an invalid pattern or time. */
  #literals({ name, args }: Expr & { is: "call" }): void {
    const literal = args.at(-1);
    if (!LOOKED_AT.has(name) || literal?.is !== "literal" || literal.literal.type !== "string") return;
    const text = literal.literal.value;
    const overload = LIBRARY.get(name)?.find(({ params }) => params.at(-1) === STRING);
    const tried = overload?.run(...((name === "matches" ? ["", text] : [text]) as CelValue[] as never[]));
    if (tried instanceof CelError) this.#refuse(literal.at, `invalid ${name} argument`);
  }

  #loop(expr: Expr & { is: "loop" }, scope: Scope): CelType {
    const { kind, over, variable, test, made, at } = expr;
    const range = this.typeOf(over, scope);
    const isLoopable = range.name === "list" || range.name === "map" || range.name === "dyn";
    if (!isLoopable) {
      this.#refuse(
        over.at,
        `expression of type '${typeText(range)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
      );
    }
    const item = range.of?.[0] ?? DYN;
    const inner = new Map([...scope, [variable, item]]);
    if (test) this.#boolean(test, inner);
    if (kind === "map") return listOf(made ? this.typeOf(made, inner) : this.#refuse(at, "nothing is made"));
    return kind === "filter" ? listOf(item) : BOOL;
  }
}

function resultOf({ params, result }: Overload, types: readonly CelType[]): readonly CelType[] {
  if (params.length !== types.length) return [];
  let bindings: Bindings | undefined = new Map<string, CelType>();
  for (const [index, type] of types.entries()) {
    bindings = bindings && unify(params[index] ?? DYN, type, bindings);
  }
  return bindings ? [filledIn(result, bindings)] : [];
}

function noOverload(name: string, isMethod: boolean, types: readonly CelType[]): string {
  const [first = DYN, ...rest] = types;
  const texts = (isMethod ? rest : types).map(typeText).join(", ");
  const applied = isMethod ? `${typeText(first)}.(${texts})` : `(${texts})`;
  return `found no matching overload for '${name}' applied to '${applied}'`;
}
