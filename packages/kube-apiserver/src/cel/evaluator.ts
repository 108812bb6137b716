import { LIBRARY, TYPE_NAMES } from "./functions/library.ts";
import { getMember, createMissingKeyError } from "./functions/operators.ts";
import type { Overload } from "./functions/overload.ts";
import type { Comprehension, Expr, Literal } from "./syntax/syntax.ts";
import type { CelType } from "./values/types.ts";
import { CelError, CelList, CelMap, toMapKey, TypeName, getTypeName, Uint, type CelValue } from "./values/values.ts";

/** The variables of an expression. */
export type Values = ReadonlyMap<string, CelValue>;

/** Evaluates a checked expression. Errors are values too: `CelError`. */
export function evaluateCel(expr: Expr, values: Values): CelValue {
  switch (expr.is) {
    case "literal":
      return evaluateLiteral(expr.literal);
    case "name":
      return values.get(expr.name) ?? resolveTypeName(expr.name);
    case "select": {
      const of = evaluateCel(expr.of, values);
      return of instanceof CelError ? of : (getMember(of, expr.field) ?? createMissingKeyError(expr.field));
    }
    case "has": {
      const of = evaluateCel(expr.of, values);
      return of instanceof CelError ? of : getMember(of, expr.field) !== undefined;
    }
    case "call":
      return evaluateCall(expr, values);
    case "list": {
      const items = expr.items.map((item) => evaluateCel(item, values));
      return findError(items) ?? new CelList(items);
    }
    case "map":
      return evaluateMap(expr, values);
    case "loop":
      return evaluateLoop(expr, values);
  }
}

function evaluateLiteral({ type, value }: Literal): CelValue {
  return type === "uint" ? new Uint(value) : value;
}

function resolveTypeName(name: string): CelValue {
  return TYPE_NAMES.has(name) ? new TypeName(name) : new CelError(`no such attribute: ${name}`);
}

function findError(values: readonly CelValue[]): CelError | undefined {
  return values.find((value) => value instanceof CelError);
}

function evaluateCall({ name, target, args }: Expr & { is: "call" }, values: Values): CelValue {
  const [first, second, third] = args;
  if ((name === "_&&_" || name === "_||_") && first && second) return evaluateLogical(name, first, second, values);
  if (name === "_?_:_" && first && second && third) {
    const test = evaluateCel(first, values);
    return test instanceof CelError ? test : evaluateCel(test === true ? second : third, values);
  }
  const operands = [...(target ? [target] : []), ...args].map((each) => evaluateCel(each, values));
  const error = findError(operands);
  if (error) return error;
  const overload = findOverload(name, target !== undefined, operands);
  return overload ? overload.run(...(operands as never[])) : new CelError("no such overload");
}

/** A deciding side absorbs an error of the other, in either order. */
function evaluateLogical(name: "_&&_" | "_||_", first: Expr, second: Expr, values: Values): CelValue {
  const decisive = name === "_||_";
  const left = evaluateCel(first, values);
  if (left === decisive) return decisive;
  const right = evaluateCel(second, values);
  if (right === decisive) return decisive;
  return findError([left, right]) ?? !decisive;
}

function findOverload(name: string, isMethod: boolean, operands: readonly CelValue[]): Overload | undefined {
  return LIBRARY.get(name)?.find(
    ({ isMethod: is, params }) =>
      is === isMethod &&
      params.length === operands.length &&
      params.every((type, index) => acceptsValue(type, operands[index] ?? null)),
  );
}

/** Whether a value has a type; for a list the first item decides, because lists are homogeneous. */
function acceptsValue({ name, of = [] }: CelType, value: CelValue): boolean {
  if (name.startsWith("<") || name === "dyn") return true;
  const actual = getTypeName(value);
  const expected = name === "null" ? "null_type" : name;
  if (actual !== expected) return false;
  const [item] = value instanceof CelList ? value.items : [];
  return item === undefined || of[0] === undefined || acceptsValue(of[0], item);
}

function evaluateMap({ entries }: Expr & { is: "map" }, values: Values): CelValue {
  const result = new Map<bigint | string | boolean | number, CelValue>();
  for (const [keyExpr, valueExpr] of entries) {
    const key = evaluateCel(keyExpr, values);
    const value = evaluateCel(valueExpr, values);
    const error = findError([key, value]);
    if (error) return error;
    const mapKey = toMapKey(key);
    if (mapKey === undefined) return new CelError("unsupported key type");
    if (result.has(mapKey)) return new CelError(`insert failed: key ${String(mapKey)} already exists`);
    result.set(mapKey, value);
  }
  return new CelMap(result);
}

function evaluateLoop(loop: Comprehension, values: Values): CelValue {
  const over = evaluateCel(loop.over, values);
  if (over instanceof CelError) return over;
  const items = over instanceof CelMap ? [...over.entries.keys()] : over instanceof CelList ? over.items : undefined;
  if (!items) return new CelError("no such overload");
  const bindItem = (item: CelValue): Values => new Map([...values, [loop.variable, item]]);
  const evaluateTest = (item: CelValue): CelValue => (loop.test ? evaluateCel(loop.test, bindItem(item)) : true);
  switch (loop.kind) {
    case "all":
      return evaluateQuantifier(items, evaluateTest, false);
    case "exists":
      return evaluateQuantifier(items, evaluateTest, true);
    case "exists_one":
      return evaluateExistsOne(items, evaluateTest);
    case "filter":
    case "map":
      return collectItems(loop, items, evaluateTest, bindItem);
  }
}

/** The first deciding item wins, also over an earlier error. */
function evaluateQuantifier(
  items: readonly CelValue[],
  evaluateTest: (item: CelValue) => CelValue,
  decisive: boolean,
): CelValue {
  let error: CelError | undefined;
  for (const item of items) {
    const result = evaluateTest(item);
    if (result === decisive) return decisive;
    if (result instanceof CelError) error ??= result;
  }
  return error ?? !decisive;
}

function evaluateExistsOne(items: readonly CelValue[], evaluateTest: (item: CelValue) => CelValue): CelValue {
  const results = items.map(evaluateTest);
  return findError(results) ?? results.filter((result) => result === true).length === 1;
}

function collectItems(
  { output }: Comprehension,
  items: readonly CelValue[],
  evaluateTest: (item: CelValue) => CelValue,
  bindItem: (item: CelValue) => Values,
): CelValue {
  const results: CelValue[] = [];
  for (const item of items) {
    const result = evaluateTest(item);
    if (result instanceof CelError) return result;
    if (result === true) results.push(output ? evaluateCel(output, bindItem(item)) : item);
  }
  return findError(results) ?? new CelList(results);
}
