import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import { admitCustomResource, validateCustomResource } from "../schema/custom-resource.ts";
import { applyDefaults } from "../schema/defaulting.ts";
import type { FieldError } from "../schema/field-error.ts";
import type { Kind, KindVersion, ScalePaths } from "../kinds/kind.ts";
import { valueAtPath } from "../kinds/create-kind-rules.ts";
import { badRequest } from "../request/response/status-errors.ts";
import { isBuiltIn } from "../verbs/verb-context.ts";
import { validateEmbeddedMetadata } from "./embedded-metadata.ts";
import { findMetadataTypeError } from "./metadata-types.ts";

/** A kind in one of its versions. */
export interface KindInVersion {
  readonly kind: Kind;
  readonly version: KindVersion;
}

/** An object after admission: decoded by its type, with defaults, without unknown fields. */
export function admitBody(of: KindInVersion, sent: JsonObject): Result<JsonObject, Status> {
  const read = decodeBody(of, sent);
  return read.ok ? ok(completeObject(of, read.value)) : read;
}

/** An object as its kind decodes it, before defaults; rejects values of the wrong type. */
export function decodeBody({ kind, version }: KindInVersion, sent: JsonObject): Result<JsonObject, Status> {
  const createDecodeError = (reason: string): Result<JsonObject, Status> =>
    err(badRequest(`${kind.kind} in version "${version.name}" cannot be handled as a ${kind.kind}: ${reason}`));
  const wrongMetadata = isBuiltIn(kind) ? undefined : findMetadataTypeError(sent);
  if (wrongMetadata !== undefined) return createDecodeError(wrongMetadata);
  const decoded = kind.rules.decode(sent);
  return decoded.ok ? decoded : createDecodeError(decoded.error);
}

/** Applies defaults, and removes unknown fields for custom kinds. */
export function completeObject({ kind, version }: KindInVersion, object: JsonObject): JsonObject {
  const whole = isBuiltIn(kind)
    ? (applyDefaults(object, version.schema) as JsonObject)
    : admitCustomResource(object, version.schema);
  return kind.rules.applyDefaults(whole);
}

/** All violations of an admitted object; `live` is the object it replaces, for transition rules. */
export function validateObject(
  { kind, version }: KindInVersion,
  object: JsonObject,
  live?: JsonObject,
): readonly FieldError[] {
  return [
    ...kind.rules.errors(object, live),
    ...(kind.rules.isValidatedBySchema
      ? [
          ...validateCustomResource(object, version.schema, live),
          ...validateEmbeddedMetadata(object, version.schema),
          ...validateScale(object, version.scale),
        ]
      : []),
  ];
}

const MOST_REPLICAS = 2_147_483_647;

/** Violations of replica counts that `/scale` cannot represent. */
function validateScale(object: JsonObject, scale: ScalePaths | undefined): readonly FieldError[] {
  if (scale === undefined) return [];
  return [scale.specReplicas, scale.statusReplicas].flatMap((field) => {
    const count = valueAtPath(object, field.replace(/^\./, ""));
    if (typeof count !== "number" || (count >= 0 && count <= MOST_REPLICAS)) return [];
    const reason = count < 0 ? "should be a non-negative integer" : `should be less than or equal to ${MOST_REPLICAS}`;
    return [{ reason: "FieldValueInvalid", field, message: `Invalid value: ${count}: ${reason}` }];
  });
}
