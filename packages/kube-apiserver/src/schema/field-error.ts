import { canonicalJson } from "@oaas/foundation";
import type { GroupVersionKind, Status, StatusCause } from "@oaas/kube-core";

/** One violation of an object, as a cause in the server's error. */
export type FieldError = Required<StatusCause>;

/** The field of errors without a location. */
const NOWHERE = "<nil>";

/** An invalid value. */
export function invalidField(field: string, value: unknown, detail: string): FieldError {
  return { reason: "FieldValueInvalid", field, message: `Invalid value: ${formatValue(value)}: ${detail}` };
}

/** A value of the wrong type or format. */
export function mistypedField(field: string, value: string, type: string): FieldError {
  const found = formatValue(value);
  return {
    reason: "FieldValueTypeInvalid",
    field,
    message: `Invalid value: ${found}: ${formatPath(field)} must be of type ${type}: ${found}`,
  };
}

/** An error whose location is only in its message. */
export function invalidSomewhere(detail: string, value: "" | null = ""): FieldError {
  return invalidField(NOWHERE, value, detail);
}

/** A missing field. */
export function requiredField(field: string, detail = ""): FieldError {
  return { reason: "FieldValueRequired", field, message: `Required value${detail === "" ? "" : `: ${detail}`}` };
}

/** A forbidden field. */
export function forbiddenField(field: string, detail: string): FieldError {
  return { reason: "FieldValueForbidden", field, message: `Forbidden: ${detail}` };
}

/** A duplicate value. */
export function duplicateField(field: string, value: unknown): FieldError {
  return { reason: "FieldValueDuplicate", field, message: `Duplicate value: ${formatValue(value)}` };
}

/** An unsupported value. */
export function unsupportedField(field: string, value: unknown, supported: readonly unknown[]): FieldError {
  const choices = supported.map((choice) =>
    JSON.stringify(typeof choice === "string" ? choice : canonicalJson(choice)),
  );
  return {
    reason: "FieldValueNotSupported",
    field,
    message: `Unsupported value: ${formatValue(value)}: supported values: ${choices.join(", ")}`,
  };
}

/** A string that is too long. */
export function tooLongField(field: string, most: number): FieldError {
  return { reason: "FieldValueTooLong", field, message: `Too long: may not be more than ${most} bytes` };
}

/** A list or map with too many entries. */
export function tooManyField(field: string, count: number, most: number): FieldError {
  return { reason: "FieldValueTooMany", field, message: `Too many: ${count}: must have at most ${most} items` };
}

/** How the server writes a path. */
export function formatPath(field: string): string {
  return `${field} in body`;
}

/** One line: path and message. */
export function formatFieldError({ field, message }: FieldError): string {
  return `${field}: ${message}`;
}

/** The rejection of an object with field errors, as the server returns it. */
export function invalidStatus(
  kind: Pick<GroupVersionKind, "group" | "kind">,
  name: string,
  errors: readonly FieldError[],
): Status {
  const what = kind.group === "" ? kind.kind : `${kind.kind}.${kind.group}`;
  const [only, ...more] = errors.map(formatFieldError);
  const list = more.length === 0 ? (only ?? "") : `[${[only, ...more].join(", ")}]`;
  return {
    status: "Failure",
    code: 422,
    reason: "Invalid",
    message: `${what} ${JSON.stringify(name)} is invalid: ${list}`,
    details: { ...(name === "" ? {} : { name }), group: kind.group, kind: kind.kind, causes: errors },
  };
}

function formatValue(value: unknown): string {
  return canonicalJson(value);
}
