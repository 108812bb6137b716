import type { Expression, Selector } from "./expression.ts";

/** All selectors of a query, in the order of the text. */
export function listSelectors(expr: Expression): readonly Selector[] {
  switch (expr.type) {
    case "number":
    case "string":
      return [];
    case "selector":
      return [expr];
    case "range":
      return [expr.selector];
    case "negate":
    case "subquery":
      return listSelectors(expr.expr);
    case "call":
      return expr.args.flatMap(listSelectors);
    case "aggregate":
      return [...(expr.parameter === undefined ? [] : listSelectors(expr.parameter)), ...listSelectors(expr.expr)];
    case "binary":
      return [...listSelectors(expr.left), ...listSelectors(expr.right)];
  }
}
