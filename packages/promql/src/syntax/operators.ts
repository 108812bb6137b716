import { invalidQuery, unsupportedQuery } from "../errors.ts";
import type { BinaryOperator, Expression, Matching } from "./expression.ts";
import type { Operand } from "./postfix.ts";

/** A binary operator with its modifiers. */
export interface OperatorItem {
  readonly operator: string;
  readonly isBool: boolean;
  readonly matching: Matching;
}

/** One part of a chain such as `-a + b * c`. */
export type Item = { readonly operand: Operand } | { readonly sign: 1 | -1 } | OperatorItem;

const PRECEDENCE: Readonly<Record<BinaryOperator, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  "==": 3,
  "!=": 3,
  "<": 3,
  ">": 3,
  "<=": 3,
  ">=": 3,
  "+": 4,
  "-": 4,
  "*": 5,
  "/": 5,
  "%": 5,
  atan2: 5,
  "^": 6,
};
const POWER = PRECEDENCE["^"];

/** Puts a chain together by precedence. `^` binds to the right, all others to the left; a sign binds less than `^`. */
export function applyOperators(items: readonly Item[]): Expression {
  let at = 0;
  const operand = (): Expression => {
    const item = items[at];
    at += 1;
    if (!item || "operator" in item) throw invalidQuery("expression is incomplete");
    if ("operand" in item) return item.operand.expr;
    const expr = chain(POWER);
    return item.sign === 1 ? expr : negate(expr);
  };
  const chain = (least: number): Expression => {
    let left = operand();
    for (;;) {
      const item = items[at];
      if (!item || !("operator" in item)) return left;
      const operator = knownOperator(item.operator);
      const precedence = PRECEDENCE[operator];
      if (precedence < least) return left;
      at += 1;
      const right = chain(precedence === POWER ? precedence : precedence + 1);
      left = { type: "binary", operator, left, right, isBool: item.isBool, matching: item.matching };
    }
  };
  return chain(0);
}

function negate(expr: Expression): Expression {
  return expr.type === "number" ? { type: "number", value: -expr.value } : { type: "negate", expr };
}

function knownOperator(operator: string): BinaryOperator {
  if (!Object.hasOwn(PRECEDENCE, operator)) throw unsupportedQuery(`operator ${operator}`);
  return operator as BinaryOperator;
}
