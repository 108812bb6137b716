import { isJsonObject } from "@oaas/kube-core";
import { invalidField, requiredField, unsupportedField, type FieldError } from "../../schema/field-error.ts";
import {
  additionalOf,
  propertyOf,
  type StructuralSchema,
  type ValidationRule,
} from "../../schema/structural-schema.ts";
import { compileRule } from "./compiled-rule.ts";

const REASONS = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/** Errors in the rules of a definition's schema, with the server's messages. The schema itself is structural. */
export function validateRuleDeclarations(schema: StructuralSchema, field: string): readonly FieldError[] {
  return validateSchema(schema, field, true, undefined);
}

/** `uncorrelated` is the ancestor list whose items cannot be matched between two states. */
function validateSchema(
  schema: StructuralSchema,
  field: string,
  isRoot: boolean,
  uncorrelated: string | undefined,
): readonly FieldError[] {
  const { items, properties = {} } = schema;
  const additional = additionalOf(schema);
  const isAtomic = schema["x-kubernetes-list-type"] !== "map";
  const isAtomicMap = schema["x-kubernetes-map-type"] === "atomic";
  const nestedUncorrelated = uncorrelated ?? (isAtomicMap ? field : undefined);
  const rules = schema["x-kubernetes-validations"] ?? [];
  return [
    ...rules.flatMap((rule, index) =>
      validateRule(rule, schema, `${field}.x-kubernetes-validations[${index}]`, isRoot, uncorrelated),
    ),
    ...(items ? validateSchema(items, `${field}.items`, false, uncorrelated ?? (isAtomic ? field : undefined)) : []),
    ...Object.entries(properties).flatMap(([name, of]) =>
      validateSchema(of, `${field}.properties[${name}]`, false, nestedUncorrelated),
    ),
    ...(additional ? validateSchema(additional, `${field}.additionalProperties`, false, nestedUncorrelated) : []),
  ];
}

function validateRule(
  rule: ValidationRule,
  schema: StructuralSchema,
  field: string,
  isRoot: boolean,
  uncorrelated: string | undefined,
): readonly FieldError[] {
  if (!isJsonObject(rule)) return [];
  const { rule: source, optionalOldSelf } = rule;
  if (typeof source !== "string" || source.trim() === "")
    return [requiredField(`${field}.rule`, "rule is not specified")];
  const fieldErrors = validateRuleFields(rule, schema, field);
  if (optionalOldSelf !== undefined) {
    const detail = "optional values are not supported by this server";
    return [...fieldErrors, invalidField(`${field}.optionalOldSelf`, optionalOldSelf, detail)];
  }
  const compiled = compileRule(rule, schema, isRoot);
  if (!compiled.ok) {
    const { member, reason } = compiled.error;
    const message = `Invalid value: ${formatGoStruct(rule)}: ${reason}`;
    return [...fieldErrors, { reason: "FieldValueInvalid", field: `${field}.${member}`, message }];
  }
  if (!compiled.value.usesOldSelf || uncorrelated === undefined) return fieldErrors;
  const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelated}`;
  return [...fieldErrors, invalidField(`${field}.rule`, source, detail)];
}

function validateRuleFields(rule: ValidationRule, schema: StructuralSchema, field: string): readonly FieldError[] {
  const { rule: source, message = "", messageExpression, reason, fieldPath = "" } = rule;
  const found: FieldError[] = [];
  if (message !== "" && message.trim() === "") {
    found.push(invalidField(`${field}.message`, message, "must be non-empty if specified"));
  } else if (hasLineBreak(message)) {
    found.push(invalidField(`${field}.message`, message, "must not contain line breaks"));
  } else if (hasLineBreak(source) && message === "") {
    found.push(requiredField(`${field}.message`, "message must be specified if rule contains line breaks"));
  }
  if (messageExpression !== undefined && messageExpression !== "" && messageExpression.trim() === "") {
    found.push(requiredField(`${field}.messageExpression`, "messageExpression must be non-empty if specified"));
  }
  if (reason !== undefined && !REASONS.includes(reason)) {
    found.push(unsupportedField(`${field}.reason`, reason, REASONS));
  }
  if (fieldPath !== "" && !isValidPath(fieldPath, schema)) {
    found.push(invalidField(`${field}.fieldPath`, fieldPath, "must be a valid path"));
  }
  return found;
}

function hasLineBreak(text: string): boolean {
  return /[\n\r]/.test(text);
}

function isValidPath(path: string, schema: StructuralSchema): boolean {
  let at: StructuralSchema | undefined = schema;
  for (const token of parseFieldPath(path) ?? [""]) {
    at = at && (propertyOf(at, token) ?? additionalOf(at));
  }
  return at !== undefined && at !== schema;
}

/** The rule as the server prints it: its Go struct with its escapes. */
function formatGoStruct({
  rule,
  message,
  messageExpression,
  reason,
  fieldPath,
  optionalOldSelf,
}: ValidationRule): string {
  const struct = {
    Rule: rule,
    Message: message ?? "",
    MessageExpression: messageExpression ?? "",
    Reason: reason ?? null,
    FieldPath: fieldPath ?? "",
    OptionalOldSelf: optionalOldSelf ?? null,
  };
  return JSON.stringify(struct).replaceAll(
    /[&<>\u2028\u2029]/g,
    (letter) => `\\u${(letter.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}

const STEP = /\.(?<name>[a-zA-Z_][a-zA-Z0-9_-]*)|\['(?<quoted>(?:[^'\\]|\\.)*)'\]/y;

/** The names along a rule's `fieldPath` (`.a.b['c.d']`), or undefined when it is invalid. */
export function parseFieldPath(path: string): readonly string[] | undefined {
  const tokens: string[] = [];
  let at = 0;
  while (at < path.length) {
    STEP.lastIndex = at;
    const found = STEP.exec(path);
    if (!found) return undefined;
    tokens.push(found.groups?.["name"] ?? (found.groups?.["quoted"] ?? "").replaceAll(/\\(.)/g, "$1"));
    at += found[0].length;
  }
  return tokens;
}
