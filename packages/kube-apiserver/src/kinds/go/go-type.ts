import type { JsonValue } from "@oaas/kube-core";

/**
 * How Go reads and writes a value of one type. The real server decodes every body into Go's types and writes answers from them, so that what comes out
 * is not what came in: wrong types refuse the body, and how zeros, nulls and empty lists come back depends on the type.
 */
export interface GoType {
  /** As Go calls it in a refusal: `int32`, `v1.PodSpec`, `[]v1.Container`. */
  readonly name: string;
  /** The value as Go would write it again. Null counts as absent before this is asked. */
  read(value: JsonValue, at: GoPlace): JsonValue;
  /** Whether a value that was read is this type's zero, which `omitempty` leaves out. */
  isZero(value: JsonValue): boolean;
  /** What a null in a list or map is. */
  readonly zero: JsonValue;
}

/** Where a value stands, for refusals; and where the first of them is kept: Go tells no others. */
export interface GoPlace {
  /** The struct that holds the field. */
  readonly struct: string;
  /** Dotted, without indexes. */
  readonly path: string;
  readonly refusal: { text?: string };
}

/** Notes a refusal unless there is one. */
export function refuse(at: GoPlace, text: string): void {
  at.refusal.text ??= text;
}

/** The words for a value of the wrong type. */
export function refuseType(value: JsonValue, at: GoPlace, wanted: string, shown = ""): void {
  const where = at.path === "" ? "Go value" : `Go struct field ${at.struct}.${at.path}`;
  refuse(at, `json: cannot unmarshal ${jsonName(value)}${shown} into ${where} of type ${wanted}`);
}

function jsonName(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}
