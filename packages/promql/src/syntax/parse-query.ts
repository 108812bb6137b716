import type { SyntaxNode, Tree } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";
import { invalidQuery, unsupportedQuery } from "../errors.ts";
import type { SpendSteps } from "../regex/regex.ts";
import { checkTypes } from "./check-types.ts";
import type { AggregateOperator, Expression } from "./expression.ts";
import { parseNumber, parseString } from "./literals.ts";
import { applyOperators, type Item, type OperatorItem } from "./operators.ts";
import { childrenOf, childOf, listLabels, textOf } from "./nodes.ts";
import { parseDurationNode, parseMatching, parseSelector } from "./parse-parts.ts";
import { selectMatrix, shift, subquery, type Operand } from "./postfix.ts";

const MAX_QUERY = 10_000;
const MAX_DEPTH = 250;

/** Options of the parser. */
export interface ParseOptions {
  /** Counts the steps of regular expressions when the query is evaluated. */
  readonly spend?: SpendSteps;
}

/** Parses and type-checks a query. */
export function parseQuery(query: string, options: ParseOptions = {}): Expression {
  if (query.length > MAX_QUERY) throw invalidQuery(`query is longer than ${MAX_QUERY} characters`);
  const tree = parseTree(query);
  const root = tree.topNode.firstChild;
  if (!root) throw invalidQuery("no expression found in input");
  const expr = new QueryParser(query, options.spend).parse(root);
  checkTypes(expr);
  return expr;
}

/** Stops at the first error: recovery takes a second for a long text. */
const strictParser = parser.configure({ strict: true });

function parseTree(query: string): Tree {
  if (query.trim() === "") throw invalidQuery("no expression found in input");
  try {
    return strictParser.parse(query);
  } catch (thrown) {
    const at = thrown instanceof SyntaxError ? /^No parse at (\d{1,6})$/.exec(thrown.message)?.[1] : undefined;
    if (at === undefined) throw thrown;
    throw invalidQuery(describeError(query, Number(at)));
  }
}

function describeError(query: string, at: number): string {
  const name = wordBefore(query, at);
  if (query[at] === "(" && name !== "") return `${position(query, at)}unknown function with name "${name}"`;
  const rest = query.slice(at).trim().slice(0, 20);
  return `${position(query, at)}parse error: unexpected ${rest === "" ? "end of input" : JSON.stringify(rest)}`;
}

function wordBefore(query: string, at: number): string {
  const text = query.slice(0, at).trimEnd();
  let start = text.length;
  while (start > 0 && /^\w$/.test(text[start - 1] ?? "")) start -= 1;
  return text.slice(start);
}

/** `line:column: `, as in Prometheus. */
function position(query: string, at: number): string {
  const lines = query.slice(0, at).split("\n");
  return `${lines.length}:${(lines.at(-1) ?? "").length + 1}: `;
}

/**
 * Turns the syntax tree into an expression. The grammar is made for editors: it attaches `offset`, `@` and ranges to the
 * whole expression before them, and signs to numbers. Each chain of operators is therefore flattened and put together
 * again by precedence.
 */
class QueryParser {
  readonly #query: string;
  readonly #spend: SpendSteps | undefined;
  #depth = 0;

  constructor(query: string, spend: SpendSteps | undefined) {
    this.#query = query;
    this.#spend = spend;
  }

  parse(node: SyntaxNode): Expression {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw invalidQuery(`expression is nested more than ${MAX_DEPTH} deep`);
    const expr = applyOperators(this.#flatten(node));
    this.#depth -= 1;
    return expr;
  }

  /** The operands and operators of a chain, in the order of the text. */
  #flatten(node: SyntaxNode): Item[] {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw invalidQuery(`expression is nested more than ${MAX_DEPTH} deep`);
    const items = this.#chain(node) ?? [this.#operand(node)];
    this.#depth -= 1;
    return items;
  }

  #chain(node: SyntaxNode): Item[] | undefined {
    const [first, second] = childrenOf(node);
    switch (node.name) {
      case "BinaryExpr":
        return this.#binary(node);
      case "UnaryExpr":
        return first && second && [{ sign: signOf(textOf(this.#query, first)) }, ...this.#flatten(second)];
      case "NumberDurationLiteral":
        return this.#number(textOf(this.#query, node));
      case "OffsetExpr":
      case "StepInvariantExpr":
      case "MatrixSelector":
      case "SubqueryExpr":
        return first && this.#postfix(node, first);
      default:
        return undefined;
    }
  }

  #binary(node: SyntaxNode): Item[] {
    const parts = childrenOf(node);
    const [left, right] = [parts.at(0), parts.at(-1)];
    const operator = parts[1];
    if (!left || !right || !operator) throw invalidQuery("binary expression is incomplete");
    if (childOf(node, "FillModifier")) throw unsupportedQuery("the modifier fill");
    const item: OperatorItem = {
      operator: textOf(this.#query, operator).toLowerCase(),
      isBool: childOf(node, "BoolModifier") !== undefined,
      matching: parseMatching(childOf(node, "MatchingModifierClause"), this.#query),
    };
    return [...this.#flatten(left), item, ...this.#flatten(right)];
  }

  /** The sign is an operator: -1^2 is -(1^2). */
  #number(text: string): Item[] {
    const isSigned = text.startsWith("-") || text.startsWith("+");
    const value = parseNumber(isSigned ? text.slice(1).trim() : text);
    const operand: Item = { operand: { expr: { type: "number", value }, isGrouped: false } };
    return isSigned ? [{ sign: signOf(text[0] ?? "") }, operand] : [operand];
  }

  #postfix(node: SyntaxNode, inner: SyntaxNode): Item[] {
    const items = this.#flatten(inner);
    const last = items.pop();
    if (!last || !("operand" in last)) throw invalidQuery("expression is incomplete");
    return [...items, { operand: this.#applyPostfix(node, last.operand) }];
  }

  #applyPostfix(node: SyntaxNode, operand: Operand): Operand {
    const query = this.#query;
    switch (node.name) {
      case "OffsetExpr":
        return shift(operand, { offsetMs: parseDurationNode(childOf(node, "OffsetDurationExpr"), query) });
      case "StepInvariantExpr":
        return shift(operand, { at: this.#fixedTime(node) });
      case "MatrixSelector":
        return selectMatrix(operand, parseDurationNode(childOf(node, "DurationExpr"), query));
      default: {
        const [range, step] = childrenOf(node).filter(({ name }) => name === "DurationExpr");
        return subquery(operand, parseDurationNode(range, query), step && parseDurationNode(step, query));
      }
    }
  }

  #fixedTime(node: SyntaxNode): number | "start" | "end" {
    const relative = childOf(node, "AtModifierPreprocessors");
    if (relative) return textOf(this.#query, relative).toLowerCase().startsWith("start") ? "start" : "end";
    const number = childOf(node, "NumberDurationLiteral");
    const seconds = number ? parseNumber(textOf(this.#query, number).replaceAll(" ", "")) : Number.NaN;
    if (!Number.isFinite(seconds)) throw invalidQuery("timestamp out of bounds for @ modifier");
    return Math.round(seconds * 1000);
  }

  #operand(node: SyntaxNode): Item {
    const [first] = childrenOf(node);
    switch (node.name) {
      case "ParenExpr":
        if (!first) throw invalidQuery("parentheses are empty");
        return { operand: { expr: this.parse(first), isGrouped: true } };
      case "StringLiteral":
        return {
          operand: { expr: { type: "string", value: parseString(textOf(this.#query, node)) }, isGrouped: true },
        };
      case "VectorSelector":
        return { operand: { expr: parseSelector(node, this.#query, this.#spend), isGrouped: false } };
      case "FunctionCall":
        return { operand: { expr: this.#call(node), isGrouped: true } };
      case "AggregateExpr":
        return { operand: { expr: this.#aggregate(node), isGrouped: true } };
      default:
        throw unsupportedQuery(node.name.replace("Expr", "").toLowerCase());
    }
  }

  #call(node: SyntaxNode): Expression {
    const name = textOf(this.#query, childOf(node, "FunctionIdentifier"));
    return { type: "call", name, args: this.#args(node) };
  }

  #aggregate(node: SyntaxNode): Expression {
    const operator = textOf(this.#query, childOf(node, "AggregateOp")).toLowerCase();
    if (operator === "limitk" || operator === "limit_ratio") throw unsupportedQuery(`aggregation ${operator}`);
    const modifier = childOf(node, "AggregateModifier");
    const args = this.#args(node);
    const [first, second] = args;
    if (!first || args.length > 2) {
      throw invalidQuery(`wrong number of arguments for aggregate expression ${operator}: ${args.length}`);
    }
    return {
      type: "aggregate",
      operator: operator as AggregateOperator,
      ...(second ? { parameter: first, expr: second } : { expr: first }),
      grouping: modifier ? listLabels(childOf(modifier, "GroupingLabels"), this.#query) : [],
      isWithout: modifier !== undefined && childOf(modifier, "Without") !== undefined,
    };
  }

  #args(node: SyntaxNode): Expression[] {
    return childrenOf(childOf(node, "FunctionCallBody")).map((arg) => this.parse(arg));
  }
}

function signOf(text: string): 1 | -1 {
  return text === "-" ? -1 : 1;
}
