import { err, ok, type Result } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type Status } from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { badRequest, invalidOptions } from "../response/status-errors.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** Options of a write. */
export interface WriteOptions {
  /** The field manager. */
  readonly manager: string;
  readonly isDryRun: boolean;
  readonly fieldValidation: FieldValidation;
  /** For apply: take fields of other managers. */
  readonly isForced: boolean;
}

/** Options of a deletion. */
export interface DeletionOptions {
  readonly isDryRun: boolean;
  readonly propagation?: "Background" | "Foreground" | "Orphan";
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
}

type Headers = Readonly<Record<string, string>>;

const FIELD_VALIDATIONS: readonly string[] = ["", "Ignore", "Strict", "Warn"];
const POLICIES: readonly string[] = ["Foreground", "Background", "Orphan"];
const MANAGER_LIMIT = 128;

/** A text with an unprintable character, and the character as Go quotes it. */
function formatUnprintable(text: string): string {
  const position = text.search(/\p{C}/u);
  const code = (text.codePointAt(position) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  const quoted = JSON.stringify(text).replaceAll(/\\u00([0-9a-f]{2})/g, String.raw`\x$1`);
  return `${quoted}: invalid character U+${code} (at position ${Buffer.byteLength(text.slice(0, position))})`;
}

/** Parses the options of a write; `kind` names them in errors (`CreateOptions`). */
export function parseWriteOptions(
  kind: "CreateOptions" | "UpdateOptions" | "PatchOptions",
  query: URLSearchParams,
  headers: Headers,
  isApply = false,
): Result<WriteOptions, Status> {
  const manager = query.get("fieldManager") ?? "";
  const force = query.get("force");
  const fieldValidation = query.get("fieldValidation") ?? "";
  const errors: FieldError[] = [];
  if (isApply && manager === "") {
    errors.push(createFieldError("FieldValueRequired", "fieldManager", "Required value: is required for apply patch"));
  }
  if (kind === "PatchOptions" && !isApply && force !== null) {
    errors.push(
      createFieldError("FieldValueForbidden", "force", "Forbidden: may not be specified for non-apply patch"),
    );
  }
  if (Buffer.byteLength(manager) > MANAGER_LIMIT) {
    errors.push(
      createFieldError("FieldValueTooLong", "fieldManager", `Too long: may not be more than ${MANAGER_LIMIT} bytes`),
    );
  } else if (/\p{C}/u.test(manager)) {
    errors.push(createFieldError("FieldValueInvalid", "fieldManager", `Invalid value: ${formatUnprintable(manager)}`));
  }
  const dryRun = validateDryRun(query.getAll("dryRun"));
  errors.push(...dryRun);
  if (!FIELD_VALIDATIONS.includes(fieldValidation)) {
    errors.push(createUnsupportedError("fieldValidation", JSON.stringify(fieldValidation), FIELD_VALIDATIONS));
  }
  if (errors.length > 0) return err(invalidOptions(kind, errors));
  return ok({
    manager: manager === "" ? getDefaultManager(headers) : manager,
    isDryRun: query.has("dryRun"),
    fieldValidation: fieldValidation === "" ? "Warn" : (fieldValidation as FieldValidation),
    isForced: force === "true" || force === "1",
  });
}

/** The default manager: the program name in the user agent. */
function getDefaultManager(headers: Headers): string {
  const [program = ""] = (headers["user-agent"] ?? "").split("/");
  return program === "" ? "unknown" : program.slice(0, MANAGER_LIMIT);
}

/** Parses the options of a deletion: from its body, else from the query. */
export function parseDeletionOptions(
  query: URLSearchParams,
  body: JsonObject | undefined,
): Result<DeletionOptions, Status> {
  const grace = query.get("gracePeriodSeconds");
  if (grace !== null && !isGoInteger(grace)) return err(badRequest(formatNotInteger("ParseInt", grace)));
  const source: JsonObject = body ?? {
    dryRun: query.getAll("dryRun"),
    ...(query.get("propagationPolicy") === null ? {} : { propagationPolicy: query.get("propagationPolicy") }),
    ...(grace === null ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(query.get("orphanDependents") === null ? {} : { orphanDependents: query.get("orphanDependents") === "true" }),
  };
  const { propagationPolicy, orphanDependents, gracePeriodSeconds, preconditions, dryRun } = source;
  const errors: FieldError[] = [];
  if (propagationPolicy !== undefined && typeof orphanDependents === "boolean") {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    errors.push(
      createFieldError(
        "FieldValueInvalid",
        "propagationPolicy",
        `Invalid value: ${JSON.stringify(propagationPolicy)}: ${detail}`,
      ),
    );
  }
  if (propagationPolicy !== undefined && !POLICIES.some((policy) => policy === propagationPolicy)) {
    errors.push(createUnsupportedError("propagationPolicy", JSON.stringify(propagationPolicy), [...POLICIES, "nil"]));
  }
  const dryRuns = Array.isArray(dryRun) ? dryRun.map(String) : [];
  errors.push(...validateDryRun(dryRuns));
  if (errors.length > 0) return err(invalidOptions("DeleteOptions", errors));
  const policy = propagationPolicy ?? toPropagationPolicy(orphanDependents);
  const required = isJsonObject(preconditions) ? preconditions : {};
  return ok({
    isDryRun: dryRuns.length > 0,
    ...(policy === undefined ? {} : { propagation: policy as "Background" | "Foreground" | "Orphan" }),
    ...(typeof gracePeriodSeconds === "number" ? { gracePeriodSeconds: Math.max(gracePeriodSeconds, 0) } : {}),
    ...(typeof required["uid"] === "string" ? { uid: required["uid"] } : {}),
    ...(typeof required["resourceVersion"] === "string" ? { resourceVersion: required["resourceVersion"] } : {}),
  });
}

function toPropagationPolicy(orphanDependents: unknown): string | undefined {
  if (typeof orphanDependents !== "boolean") return undefined;
  return orphanDependents ? "Orphan" : "Background";
}

function validateDryRun(values: readonly string[]): readonly FieldError[] {
  return values.every((value) => value === "All")
    ? []
    : [createUnsupportedError("dryRun", JSON.stringify(values), ["All"])];
}

function createFieldError(reason: string, field: string, message: string): FieldError {
  return { reason, field, message };
}

function createUnsupportedError(field: string, value: string, supported: readonly string[]): FieldError {
  const choices = supported.map((choice) => JSON.stringify(choice)).join(", ");
  return createFieldError("FieldValueNotSupported", field, `Unsupported value: ${value}: supported values: ${choices}`);
}

/** Whether Go parses this as an integer. */
export function isGoInteger(text: string): boolean {
  return /^[+-]?\d+$/.test(text);
}

/** Go's error for an invalid integer. */
export function formatNotInteger(parser: "ParseInt" | "ParseUint", text: string): string {
  return `strconv.${parser}: parsing ${JSON.stringify(text)}: invalid syntax`;
}
