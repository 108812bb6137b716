import type { FieldError } from "../../schema/field-error.ts";

/**
 * Errors with the messages of the real server's code. Unlike schema errors they print values in struct order, as Go does.
 */
export type Errors = readonly FieldError[];

export const NONE: Errors = [];

export const NOT_NEGATIVE = "must be greater than or equal to 0";
export const IMMUTABLE = "field is immutable";

export function invalid(field: string, value: unknown, detail: string): FieldError {
  const text = `Invalid value: ${formatValue(value)}`;
  return { reason: "FieldValueInvalid", field, message: detail === "" ? text : `${text}: ${detail}` };
}

export function required(field: string, detail = ""): FieldError {
  return {
    reason: "FieldValueRequired",
    field,
    message: detail === "" ? "Required value" : `Required value: ${detail}`,
  };
}

export function forbidden(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${detail}` };
}

export function duplicate(field: string, value: unknown, detail = ""): FieldError {
  const text = `Duplicate value: ${formatValue(value)}`;
  return { reason: "FieldValueDuplicate", field, message: detail === "" ? text : `${text}: ${detail}` };
}

export function notFound(field: string, value: unknown): FieldError {
  return { reason: "FieldValueNotFound", field, message: `Not found: ${formatValue(value)}` };
}

export function unsupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  const choices = supported.map((choice) => JSON.stringify(choice)).join(", ");
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${formatValue(value)}: supported values: ${choices}`,
  };
}

export function tooLong(field: string, most: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${most} bytes` };
}

/** One error per detail. */
export function invalidFor(field: string, value: unknown, details: readonly string[]): Errors {
  return details.map((detail) => invalid(field, value, detail));
}

/** An optional number that must not be negative. */
export function notNegative(field: string, value: number | undefined): Errors {
  return value === undefined || value >= 0 ? NONE : [invalid(field, value, NOT_NEGATIVE)];
}

/** A string from a fixed list; empty ones are checked elsewhere. */
export function oneOf(field: string, value: string, supported: readonly string[]): Errors {
  return value === "" || supported.includes(value) ? NONE : [unsupported(field, value, supported)];
}

function formatValue(value: unknown): string {
  return JSON.stringify(value ?? null);
}
