import type { SyntaxNode } from "@lezer/common";
import { invalidQuery, unsupportedQuery } from "../errors.ts";
import { METRIC_NAME } from "../labels.ts";
import { compileRegex, type SpendSteps } from "../regex/regex.ts";
import type { Matcher, Matching, MatchOperator, Selector } from "./expression.ts";
import { parseDuration, parseNumber, parseString } from "./literals.ts";
import { childOf, childrenOf, listLabels, textOf } from "./nodes.ts";

/** `name{label="value"}` */
export function parseSelector(node: SyntaxNode, query: string, spend?: SpendSteps): Selector {
  const name = textOf(query, childOf(node, "Identifier"));
  const listed = childrenOf(childOf(node, "LabelMatchers"));
  const conditions = listed.map((each) => parseMatcher(each, query, spend));
  if (name !== "" && conditions.some(({ label }) => label === METRIC_NAME)) {
    throw invalidQuery(`metric name must not be set twice: "${name}" and in the braces`);
  }
  const matchers = name === "" ? conditions : [createMatcher(METRIC_NAME, "=", name), ...conditions];
  if (matchers.every((matcher) => matchesValue(matcher, ""))) {
    throw invalidQuery("vector selector must contain at least one non-empty matcher");
  }
  return { type: "selector", matchers, offsetMs: 0 };
}

function parseMatcher(node: SyntaxNode, query: string, spend?: SpendSteps): Matcher {
  const children = childrenOf(node);
  const quoted = childOf(node, "QuotedLabelName") ?? (node.name === "QuotedLabelName" ? node : undefined);
  const label = quoted ? parseString(textOf(query, quoted)) : textOf(query, childOf(node, "LabelName"));
  if (node.name === "QuotedLabelName") return createMatcher(METRIC_NAME, "=", label);
  const operator = textOf(query, childOf(node, "MatchOp")) as MatchOperator;
  const value = parseString(textOf(query, children.at(-1)));
  return createMatcher(label, operator, value, spend);
}

function createMatcher(label: string, operator: MatchOperator, value: string, spend?: SpendSteps): Matcher {
  const isRegex = operator === "=~" || operator === "!~";
  return { label, operator, value, ...(isRegex ? { regex: compileRegex(value, spend) } : {}) };
}

export function matchesValue({ operator, value, regex }: Matcher, actual: string): boolean {
  const isEqual = regex ? regex.matches(actual) : actual === value;
  return operator === "=" || operator === "=~" ? isEqual : !isEqual;
}

/** `on(a) group_left(b)`; without it series match on all labels. */
export function parseMatching(node: SyntaxNode | undefined, query: string): Matching {
  if (!node) return { cardinality: "one-to-one", isOn: false, labels: [], include: [] };
  const [labels, include] = childrenOf(node).filter(({ name }) => name === "GroupingLabels");
  const isLeft = childOf(node, "GroupLeft") !== undefined;
  const isRight = childOf(node, "GroupRight") !== undefined;
  const matching: Matching = {
    cardinality: isLeft ? "many-to-one" : isRight ? "one-to-many" : "one-to-one",
    isOn: childOf(node, "On") !== undefined,
    labels: listLabels(labels, query),
    include: listLabels(include, query),
  };
  const both = matching.include.find((label) => matching.isOn && matching.labels.includes(label));
  if (both !== undefined) throw invalidQuery(`label "${both}" must not occur in ON and GROUP clause at once`);
  return matching;
}

/** A duration in milliseconds: `5m`, `-5m` or a number of seconds. */
export function parseDurationNode(node: SyntaxNode | undefined, query: string): number {
  const text = textOf(query, node).replaceAll(" ", "");
  const isNegative = text.startsWith("-");
  const plain = isNegative || text.startsWith("+") ? text.slice(1) : text;
  const duration = parseDuration(plain) ?? secondsOf(plain);
  return isNegative ? -duration : duration;
}

function secondsOf(text: string): number {
  if (text === "" || Array.from(text).some((char) => !"0123456789._eE".includes(char))) {
    throw unsupportedQuery(`the duration expression ${text}`);
  }
  return Math.round(parseNumber(text) * 1000);
}
