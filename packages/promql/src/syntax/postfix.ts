import { invalidQuery } from "../errors.ts";
import type { Expression, FixedTime } from "./expression.ts";

/** An operand of a chain. Modifiers may follow a selector or a subquery, and not one in parentheses. */
export interface Operand {
  readonly expr: Expression;
  readonly isGrouped: boolean;
}

/** Applies `offset` or `@` to a selector, range or subquery. */
export function shift(operand: Operand, change: { readonly offsetMs: number } | { readonly at: FixedTime }): Operand {
  const { expr, isGrouped } = operand;
  const name = "at" in change ? "@" : "offset";
  const shifted = expr.type === "range" ? expr.selector : expr;
  if (isGrouped || (shifted.type !== "selector" && shifted.type !== "subquery")) {
    throw invalidQuery(
      `${name} modifier must be preceded by an instant vector selector or range vector selector or a subquery`,
    );
  }
  if ("at" in change ? shifted.at !== undefined : shifted.offsetMs !== 0) {
    throw invalidQuery(`${name} may not be set multiple times`);
  }
  const changed = { ...shifted, ...change };
  return {
    isGrouped,
    expr: expr.type === "range" && changed.type === "selector" ? { ...expr, selector: changed } : changed,
  };
}

export function selectMatrix({ expr, isGrouped }: Operand, rangeMs: number): Operand {
  if (isGrouped || expr.type !== "selector") throw invalidQuery("ranges only allowed for vector selectors");
  if (expr.offsetMs !== 0) throw invalidQuery("no offset modifiers allowed before range");
  if (expr.at !== undefined) throw invalidQuery("no @ modifiers allowed before range");
  return { expr: { type: "range", selector: expr, rangeMs: positive(rangeMs) }, isGrouped: false };
}

export function subquery({ expr }: Operand, rangeMs: number, stepMs: number | undefined): Operand {
  const step = stepMs === undefined ? {} : { stepMs: positive(stepMs) };
  return { expr: { type: "subquery", expr, rangeMs: positive(rangeMs), ...step, offsetMs: 0 }, isGrouped: false };
}

function positive(durationMs: number): number {
  if (durationMs <= 0) throw invalidQuery("duration must be greater than 0");
  return durationMs;
}
