import { LIBRARY, TYPE_NAMES } from "./functions/library.ts";
import { memberOfValue, missingKey } from "./functions/operators.ts";
import type { Overload } from "./functions/overload.ts";
import type { Comprehension, Expr, Literal } from "./syntax/syntax.ts";
import type { CelType } from "./values/types.ts";
import { CelError, CelList, CelMap, keyValue, TypeName, typeNameOf, Uint, type CelValue } from "./values/values.ts";

/** The variables of an expression. */
export type Values = ReadonlyMap<string, CelValue>;

/** Evaluates a checked expression. Errors are values too: `CelError`. */
export function evaluateCel(expr: Expr, values: Values): CelValue {
  switch (expr.is) {
    case "literal":
      return literalValue(expr.literal);
    case "name":
      return values.get(expr.name) ?? namedType(expr.name);
    case "select": {
      const of = evaluateCel(expr.of, values);
      return of instanceof CelError ? of : (memberOfValue(of, expr.field) ?? missingKey(expr.field));
    }
    case "has": {
      const of = evaluateCel(expr.of, values);
      return of instanceof CelError ? of : memberOfValue(of, expr.field) !== undefined;
    }
    case "call":
      return called(expr, values);
    case "list": {
      const items = expr.items.map((item) => evaluateCel(item, values));
      return errorIn(items) ?? new CelList(items);
    }
    case "map":
      return mapped(expr, values);
    case "loop":
      return looped(expr, values);
  }
}

function literalValue({ type, value }: Literal): CelValue {
  return type === "uint" ? new Uint(value) : value;
}

function namedType(name: string): CelValue {
  return TYPE_NAMES.has(name) ? new TypeName(name) : new CelError(`no such attribute: ${name}`);
}

function errorIn(values: readonly CelValue[]): CelError | undefined {
  return values.find((value) => value instanceof CelError);
}

function called({ name, target, args }: Expr & { is: "call" }, values: Values): CelValue {
  const [first, second, third] = args;
  if ((name === "_&&_" || name === "_||_") && first && second) return junction(name, first, second, values);
  if (name === "_?_:_" && first && second && third) {
    const test = evaluateCel(first, values);
    return test instanceof CelError ? test : evaluateCel(test === true ? second : third, values);
  }
  const given = [...(target ? [target] : []), ...args].map((each) => evaluateCel(each, values));
  const wrong = errorIn(given);
  if (wrong) return wrong;
  const overload = overloadFor(name, target !== undefined, given);
  return overload ? overload.run(...(given as never[])) : new CelError("no such overload");
}

/** A deciding side absorbs an error of the other, in either order. */
function junction(name: "_&&_" | "_||_", first: Expr, second: Expr, values: Values): CelValue {
  const deciding = name === "_||_";
  const left = evaluateCel(first, values);
  if (left === deciding) return deciding;
  const right = evaluateCel(second, values);
  if (right === deciding) return deciding;
  return errorIn([left, right]) ?? !deciding;
}

function overloadFor(name: string, isMethod: boolean, given: readonly CelValue[]): Overload | undefined {
  return LIBRARY.get(name)?.find(
    ({ isMethod: is, params }) =>
      is === isMethod &&
      params.length === given.length &&
      params.every((type, index) => takes(type, given[index] ?? null)),
  );
}

/** Whether a value has a type; for a list the first item decides, because lists are homogeneous. */
function takes({ name, of = [] }: CelType, value: CelValue): boolean {
  if (name.startsWith("<") || name === "dyn") return true;
  const found = typeNameOf(value);
  const wanted = name === "null" ? "null_type" : name;
  if (found !== wanted) return false;
  const [item] = value instanceof CelList ? value.items : [];
  return item === undefined || of[0] === undefined || takes(of[0], item);
}

function mapped({ entries }: Expr & { is: "map" }, values: Values): CelValue {
  const made = new Map<bigint | string | boolean | number, CelValue>();
  for (const [keyExpr, valueExpr] of entries) {
    const key = evaluateCel(keyExpr, values);
    const value = evaluateCel(valueExpr, values);
    const wrong = errorIn([key, value]);
    if (wrong) return wrong;
    const known = keyValue(key);
    if (known === undefined) return new CelError("unsupported key type");
    if (made.has(known)) return new CelError(`insert failed: key ${String(known)} already exists`);
    made.set(known, value);
  }
  return new CelMap(made);
}

function looped(loop: Comprehension, values: Values): CelValue {
  const over = evaluateCel(loop.over, values);
  if (over instanceof CelError) return over;
  const items = over instanceof CelMap ? [...over.entries.keys()] : over instanceof CelList ? over.items : undefined;
  if (!items) return new CelError("no such overload");
  const inner = (item: CelValue): Values => new Map([...values, [loop.variable, item]]);
  const tested = (item: CelValue): CelValue => (loop.test ? evaluateCel(loop.test, inner(item)) : true);
  switch (loop.kind) {
    case "all":
      return decided(items, tested, false);
    case "exists":
      return decided(items, tested, true);
    case "exists_one":
      return onlyOne(items, tested);
    case "filter":
    case "map":
      return collected(loop, items, tested, inner);
  }
}

/** The first deciding item wins, also over an earlier error. */
function decided(items: readonly CelValue[], tested: (item: CelValue) => CelValue, deciding: boolean): CelValue {
  let wrong: CelError | undefined;
  for (const item of items) {
    const result = tested(item);
    if (result === deciding) return deciding;
    if (result instanceof CelError) wrong ??= result;
  }
  return wrong ?? !deciding;
}

function onlyOne(items: readonly CelValue[], tested: (item: CelValue) => CelValue): CelValue {
  const results = items.map(tested);
  return errorIn(results) ?? results.filter((result) => result === true).length === 1;
}

function collected(
  { made }: Comprehension,
  items: readonly CelValue[],
  tested: (item: CelValue) => CelValue,
  inner: (item: CelValue) => Values,
): CelValue {
  const all: CelValue[] = [];
  for (const item of items) {
    const result = tested(item);
    if (result instanceof CelError) return result;
    if (result === true) all.push(made ? evaluateCel(made, inner(item)) : item);
  }
  return errorIn(all) ?? new CelList(all);
}
