import { describe, expect, it } from "vitest";
import recorded from "../../testdata/recorded/cel-rules.json" with { type: "json" };
import { validateCustomResource } from "../schema/custom-resource.ts";
import { validateStructurality } from "../schema/definition/structurality.ts";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import type { FieldError } from "../schema/field-error.ts";
import { compileRule } from "./rules/compiled-rule.ts";
import { evaluateCel } from "./evaluator.ts";
import { CelError, fromJson, type CelValue } from "./values/values.ts";

interface Expression {
  readonly group: string;
  readonly rule: string;
  readonly refused?: string;
  readonly holds?: boolean;
  readonly error?: string;
}

const schema = recorded.schema as unknown as StructuralSchema;
const self = fromJson(recorded.object, schema);
const expressions = recorded.expressions as readonly Expression[];
const lines = (errors: readonly FieldError[]): readonly string[] =>
  errors.map(({ reason, field, message }) => `${reason} ${field}: ${message}`).sort();

const UNSUPPORTED = "not supported by this server";

/** The outcome of an expression: the compile error, the evaluation error, or the result. */
function evaluateRule(rule: string): Omit<Expression, "group" | "rule"> {
  const compiled = compileRule({ rule }, schema, false);
  if (!compiled.ok) return { refused: compiled.error.reason };
  const { test, usesOldSelf } = compiled.value;
  const result: CelValue = usesOldSelf ? true : evaluateCel(test, new Map([["self", self]]));
  return result instanceof CelError ? { error: result.message } : { holds: result === true };
}

/** For several syntax errors the real server continues to the next; this implementation stops at the first. */
const getFirstError = (refused: string): string =>
  refused.includes("Syntax error") ? refused.split("\nERROR")[0]! : refused;

describe("expressions recorded from the real server", () => {
  const supported = expressions.filter(({ rule, refused }) => {
    const isCostly = refused?.includes("estimated rule cost") ?? false;
    return !isCostly && !(evaluateRule(rule).refused?.includes(UNSUPPORTED) ?? false);
  });

  it.each(supported)("$group: $rule", ({ rule, group: _group, rule: _rule, ...expected }) => {
    const { refused, ...others } = expected;
    expect(evaluateRule(rule)).toEqual(refused === undefined ? others : { refused: getFirstError(refused) });
  });

  it("rejects unsupported functions with a clear message", () => {
    const unsupported = expressions
      .filter(({ rule }) => evaluateRule(rule).refused?.includes(UNSUPPORTED))
      .map(({ rule }) => rule);
    expect(unsupported).toMatchInlineSnapshot(`
      [
        ""%s is %d".format(["a", 1]) == "a is 1"",
        "self.l.all(i, e, i >= 0 && e != "")",
        "isURL("https://a.b/c")",
        "url("https://a.b:8/c?d=e").getHost() == "a.b:8"",
        "isIP("10.0.0.1")",
        "ip("10.0.0.1").family() == 4",
        "isCIDR("10.0.0.0/8")",
        "cidr("10.0.0.0/8").containsIP("10.1.1.1")",
        "self.?missing.orValue("d") == "d"",
        "optional.none().hasValue()",
        "sets.contains([1, 2], [1])",
        "format.dns1123Label().validate("a").hasValue()",
        "semver("1.2.3").major() == 1",
        "isSemver("1.2.3")",
      ]
    `);
  });
});

it.each([
  ["in", [false, true]],
  ["function", [true, true]],
  ["plain", [true, false]],
])("escapes a property called %s with underscores: %j", (property, known) => {
  const of: StructuralSchema = { type: "object", properties: { [property]: { type: "string" } } };
  const isKnown = (name: string): boolean => compileRule({ rule: `has(self.${name})` }, of, false).ok;
  expect([isKnown(property), isKnown(`__${property}__`)]).toEqual(known);
});

describe("rules in definitions", () => {
  it.each(recorded.definitions)("$why", ({ why, schema: spec, causes }) => {
    const root = { type: "object", properties: { spec } } as unknown as StructuralSchema;
    const errors = validateStructurality(root, "spec.validation.openAPIV3Schema");
    if (why.startsWith("optionalOldSelf")) expect(errors[0]?.message).toContain(UNSUPPORTED);
    else expect(lines(errors)).toEqual(lines(causes));
  });
});

describe("objects validated by rules", () => {
  const root = { type: "object", properties: { spec: recorded.spec } } as unknown as StructuralSchema;
  it.each(recorded.objects as readonly { why: string; object: object; old?: object; causes: FieldError[] }[])(
    "$why",
    ({ object, old, causes }) => {
      const errors = validateCustomResource({ spec: object }, root, old && { spec: old });
      expect(lines(errors)).toEqual(lines(causes));
    },
  );

  it("accepts an unchanged invalid value", () => {
    const invalid = { spec: { a: 1, s: "bad" } };
    expect(validateCustomResource(invalid, root)).toHaveLength(2);
    expect(validateCustomResource({ spec: { ...invalid.spec, l: [2] } }, root, invalid)).toEqual([]);
  });
});
