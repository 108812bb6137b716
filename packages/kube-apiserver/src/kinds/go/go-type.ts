import type { JsonValue } from "@oaas/kube-core";

/**
 * How Go decodes and encodes a type. The real server decodes every body into Go types and encodes responses from them:
 * wrong types reject the body, and zeros, nulls and empty lists depend on the type.
 */
export interface GoType {
  /** The Go name in error messages: `int32`, `v1.PodSpec`, `[]v1.Container`. */
  readonly name: string;
  /** Encodes a value as Go does. Null is handled as absent before. */
  read(value: JsonValue, at: GoPlace): JsonValue;
  /** Whether a decoded value is the zero value, which `omitempty` drops. */
  isZero(value: JsonValue): boolean;
  /** The value of null in a list or map. */
  readonly zero: JsonValue;
}

/** The location of a value for error messages; keeps the first error, because Go reports only one. */
export interface GoPlace {
  /** The struct with the field. */
  readonly struct: string;
  /** Dotted, without indexes. */
  readonly path: string;
  readonly decodeError: { text?: string };
}

/** Records an error unless there is one. */
export function reportError(at: GoPlace, text: string): void {
  at.decodeError.text ??= text;
}

/** The message for a value of the wrong type. */
export function reportTypeError(value: JsonValue, at: GoPlace, expected: string, valueText = ""): void {
  const where = at.path === "" ? "Go value" : `Go struct field ${at.struct}.${at.path}`;
  reportError(at, `json: cannot unmarshal ${getJsonTypeName(value)}${valueText} into ${where} of type ${expected}`);
}

function getJsonTypeName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
