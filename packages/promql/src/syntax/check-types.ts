import { invalidQuery, unsupportedQuery } from "../errors.ts";
import { isComparison, isSetOperator, type Aggregate, type Binary, type Call, type Expression } from "./expression.ts";
import { signatureOf, type Signature, type ValueType } from "./signatures.ts";

const TITLES: Readonly<Record<ValueType, string>> = {
  scalar: "scalar",
  vector: "instant vector",
  matrix: "range vector",
  string: "string",
};

/** The type of an expression; a fault names the first place where the types do not fit. */
export function checkTypes(expr: Expression): ValueType {
  switch (expr.type) {
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "selector":
      return "vector";
    case "range":
      return "matrix";
    case "negate":
      return checkNegated(expr.expr);
    case "subquery": {
      expectType(expr.expr, "vector", "subquery");
      return "matrix";
    }
    case "call":
      return checkCall(expr);
    case "aggregate":
      return checkAggregate(expr);
    case "binary":
      return checkBinary(expr);
  }
}

function checkNegated(expr: Expression): ValueType {
  const type = checkTypes(expr);
  if (type === "scalar" || type === "vector") return type;
  throw invalidQuery(
    `unary expression only allowed on expressions of type scalar or instant vector, got "${TITLES[type]}"`,
  );
}

function expectType(expr: Expression, expected: ValueType, place: string): void {
  const type = checkTypes(expr);
  if (type !== expected) throw invalidQuery(`expected type ${TITLES[expected]} in ${place}, got ${TITLES[type]}`);
}

function checkCall({ name, args }: Call): ValueType {
  const signature = signatureOf(name);
  if (!signature) throw unsupportedQuery(`function ${name}`);
  checkCount(name, args.length, signature);
  for (const [index, arg] of args.entries()) {
    const expected = signature.args[index] ?? signature.args.at(-1) ?? "vector";
    expectType(arg, expected, `call to function "${name}"`);
  }
  return signature.returns;
}

function checkCount(name: string, count: number, { args, optional = 0, isRepeated }: Signature): void {
  const least = args.length - optional - (isRepeated ? 1 : 0);
  const most = isRepeated ? Infinity : args.length;
  if (count >= least && count <= most) return;
  const amount = least === most ? String(least) : count < least ? `at least ${least}` : `at most ${most}`;
  throw invalidQuery(`expected ${amount} argument(s) in call to "${name}", got ${count}`);
}

const PARAMETERS: Readonly<Partial<Record<Aggregate["operator"], ValueType>>> = {
  topk: "scalar",
  bottomk: "scalar",
  quantile: "scalar",
  count_values: "string",
};

function checkAggregate({ operator, expr, parameter }: Aggregate): ValueType {
  const expected = PARAMETERS[operator];
  const count = parameter ? 2 : 1;
  const needed = expected ? 2 : 1;
  if (count !== needed) {
    throw invalidQuery(`wrong number of arguments for aggregate expression provided, expected ${needed}, got ${count}`);
  }
  if (parameter && expected) expectType(parameter, expected, "aggregation parameter");
  expectType(expr, "vector", "aggregation expression");
  return "vector";
}

function checkBinary({ operator, left, right, isBool, matching }: Binary): ValueType {
  const types = [checkTypes(left), checkTypes(right)];
  const isVector = types.includes("vector");
  if (types.some((type) => type !== "scalar" && type !== "vector")) {
    throw invalidQuery("binary expression must contain only scalar and instant vector types");
  }
  if (isBool && !isComparison(operator)) throw invalidQuery("bool modifier can only be used on comparison operators");
  if (!isVector && isComparison(operator) && !isBool) {
    throw invalidQuery("comparisons between scalars must use BOOL modifier");
  }
  if (isSetOperator(operator)) checkSetOperator(operator, types, matching.cardinality);
  const isModified = matching.isOn || matching.labels.length > 0 || matching.cardinality !== "one-to-one";
  if (isModified && types.includes("scalar"))
    throw invalidQuery("vector matching only allowed between instant vectors");
  return isVector ? "vector" : "scalar";
}

function checkSetOperator(operator: string, types: readonly ValueType[], cardinality: string): void {
  if (types.includes("scalar"))
    throw invalidQuery(`set operator "${operator}" not allowed in binary scalar expression`);
  if (cardinality !== "one-to-one") throw invalidQuery(`no grouping allowed for "${operator}" operation`);
}
