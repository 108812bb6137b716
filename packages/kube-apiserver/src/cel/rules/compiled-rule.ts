import { err, ok, type Result } from "@oaas/foundation";
import type { StructuralSchema, ValidationRule } from "../../schema/structural-schema.ts";
import { checkCel } from "../checker.ts";
import { getDeclaredType } from "../values/declared-type.ts";
import { evaluateCel } from "../evaluator.ts";
import { parseCel } from "../syntax/parser.ts";
import { formatErrors, type Expr } from "../syntax/syntax.ts";
import type { CelType } from "../values/types.ts";
import { CelError, type CelValue } from "../values/values.ts";

/** A compiled rule. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  readonly test: Expr;
  readonly message?: Expr;
  /** Whether it uses oldSelf; without an old value it is skipped. */
  readonly usesOldSelf: boolean;
}

/** Why a rule does not compile, and in which of its two expressions. */
export interface CompileFailure {
  readonly member: "rule" | "messageExpression";
  readonly reason: string;
}

/** Compiles a rule for values of this schema. */
export function compileRule(
  rule: ValidationRule,
  schema: StructuralSchema,
  isRoot: boolean,
): Result<CompiledRule, CompileFailure> {
  const self = getDeclaredType(schema, isRoot);
  const scope = new Map<string, CelType>(
    self
      ? [
          ["self", self],
          ["oldSelf", self],
        ]
      : [],
  );
  const test = compileExpression(rule.rule, scope, "bool", "cel expression must evaluate to a bool", "");
  if (!test.ok) return err({ member: "rule", reason: test.error });
  const { messageExpression = "" } = rule;
  const usesOldSelf = referencesName(test.value, "oldSelf");
  if (messageExpression.trim() === "") return ok({ rule, test: test.value, usesOldSelf });
  const typeError = "messageExpression must evaluate to a string";
  const message = compileExpression(messageExpression, scope, "string", typeError, "messageExpression ");
  if (!message.ok) return err({ member: "messageExpression", reason: message.error });
  return ok({ rule, test: test.value, message: message.value, usesOldSelf });
}

function compileExpression(
  source: string,
  scope: ReadonlyMap<string, CelType>,
  resultType: string,
  typeError: string,
  prefix: string,
): Result<Expr, string> {
  const parsed = parseCel(source);
  if (!parsed.ok) return err(`${prefix}compilation failed: ${formatErrors(source, parsed.error)}`);
  const { type, errors } = checkCel(parsed.value, scope);
  if (errors.length > 0) return err(`${prefix}compilation failed: ${formatErrors(source, errors)}`);
  if (type.name !== resultType && type.name !== "dyn") return err(typeError);
  const [constantError] = findConstantErrors(parsed.value);
  return constantError ? err(`${prefix}program instantiation failed: ${constantError.message}`) : ok(parsed.value);
}

/** Conversions of literals run once, at compile time. */
const FOLDED: ReadonlySet<string> = new Set(["int", "uint", "double", "bool", "string", "bytes"]);

function findConstantErrors(expr: Expr): readonly CelError[] {
  const isFolded = expr.is === "call" && FOLDED.has(expr.name) && expr.args.every(({ is }) => is === "literal");
  const value: CelValue | undefined = isFolded ? evaluateCel(expr, new Map()) : undefined;
  return [...(value instanceof CelError ? [value] : []), ...listChildren(expr).flatMap(findConstantErrors)];
}

function referencesName(expr: Expr, name: string): boolean {
  return (expr.is === "name" && expr.name === name) || listChildren(expr).some((part) => referencesName(part, name));
}

function listChildren(expr: Expr): readonly Expr[] {
  switch (expr.is) {
    case "literal":
    case "name":
      return [];
    case "select":
    case "has":
      return [expr.of];
    case "call":
      return [...(expr.target ? [expr.target] : []), ...expr.args];
    case "list":
      return expr.items;
    case "map":
      return expr.entries.flat();
    case "loop":
      return [expr.over, ...(expr.test ? [expr.test] : []), ...(expr.output ? [expr.output] : [])];
  }
}
