import { err, ok, type Result } from "@oaas/foundation";
import {
  formatLabelSelector,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  selectorRequirements,
  type Status,
} from "@oaas/kube-core";
import { readManagers } from "../../apply/managers/managed-fields.ts";
import { memberElement } from "../../apply/fields/path-element.ts";
import { type ScaledKind, copyManagersToScale, copyManagersFromScale } from "../../apply/managers/scale-managers.ts";
import { applyConfiguration, type FieldWriter, trackUpdate } from "../../apply/server-side-apply.ts";
import { metadataOf, metadataText, nameOf, withMetadata } from "../../admission/metadata.ts";
import { findUnknownFields } from "../../admission/strictness.ts";
import { builtInSchema } from "../../kinds/built-in/built-in-schemas.ts";
import { decodeAsGo } from "../../kinds/go/go-types.ts";
import type { Kind, ScalePaths } from "../../kinds/kind.ts";
import { badRequest, conflict, internalError, invalid } from "../../request/response/status-errors.ts";
import { apiVersionOf, isBuiltIn, type Target } from "../verb-context.ts";

/** The Scale of an object. */
export function createScale({ kind }: Target, paths: ScalePaths, object: JsonObject): Result<JsonObject, Status> {
  const replicas = getValue(object, paths.specReplicas);
  if (replicas === undefined && !isBuiltIn(kind)) {
    const reason = `the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`;
    const message = `Internal error occurred: ${reason}`;
    return err({
      status: "Failure",
      message,
      reason: "InternalError",
      details: { causes: [{ message: reason }] },
      code: 500,
    });
  }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const selector =
    paths.labelSelector === undefined ? undefined : formatSelector(getValue(object, paths.labelSelector));
  return ok({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: toNumber(replicas) === 0 ? {} : { replicas: toNumber(replicas) },
    status: defined({ replicas: toNumber(getValue(object, paths.statusReplicas)), selector }),
  });
}

/** How a Scale changes: by patch, apply, or replacement. */
export type ScaleChange = (scale: JsonObject) => Result<JsonObject, Status>;

/**
 * The object after a write to its Scale: read with the owners of its count, changed, decoded, and written back.
 * Ownership is computed on the Scale, as in the real server.
 */
export function changeScale(
  target: Target,
  paths: ScalePaths,
  live: JsonObject,
  writer: FieldWriter,
  step: { readonly next: ScaleChange; readonly isApply: boolean },
): Result<JsonObject, Status> {
  const kind = describeScaledKind(target.kind, apiVersionOf(target));
  const scale = createScale(target, paths, live);
  const before = copyManagersToScale(live, scale.ok ? scale.value : createUnsetScale(target, live), kind);
  const next = step.next(before);
  if (!next.ok) return next;
  const context = { live: before, schema: builtInSchema(SCALE_TYPE), writer: { ...writer, apiVersion: SCALE_VERSION } };
  const after = step.isApply ? next.value : trackUpdate(context, next.value);
  const object = writeReplicas(target, paths, live, after);
  return object.ok ? ok(copyManagersFromScale(object.value, after, kind)) : object;
}

const SCALE_VERSION = "autoscaling/v1";
const SCALE_TYPE = "io.k8s.api.autoscaling.v1.Scale";

/** The real server cannot apply a Scale to a custom object whose count has no owner. */
const UNOWNED = internalError(
  "failed to create manager for existing fields: failed to convert live object (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1",
);

/** Applies a Scale; conflicts are those of the count. */
export function applyScale(target: Target, config: JsonObject, writer: FieldWriter, isForced: boolean): ScaleChange {
  const scaleWriter = { ...writer, apiVersion: SCALE_VERSION };
  return (live) =>
    !isBuiltIn(target.kind) && readManagers(live) === undefined
      ? err(UNOWNED)
      : applyConfiguration({ live, schema: builtInSchema(SCALE_TYPE), writer: scaleWriter }, config, isForced);
}

/** A Scale as Go's type decodes it. Err: the decoder's message. */
export function decodeScale(sent: JsonObject): Result<JsonObject, string> {
  return decodeAsGo(sent, SCALE_TYPE);
}

/** Fields that a Scale does not have. */
export function findUnknownScaleFields(sent: JsonObject): readonly string[] {
  return findUnknownFields(sent, builtInSchema(SCALE_TYPE));
}

/** The Scale of a custom object without a count: it can be scaled too. */
function createUnsetScale({ kind }: Target, object: JsonObject): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const metadata = defined({ name, namespace, uid, resourceVersion, creationTimestamp });
  return { kind: "Scale", apiVersion: SCALE_VERSION, metadata, spec: isBuiltIn(kind) ? {} : UNSET, status: {} };
}

/** As the real server marks a count that was never set. */
const UNSET = { replicas: -2_147_483_648 };

function describeScaledKind(kind: Kind, apiVersion: string): ScaledKind {
  return {
    apiVersion,
    replicas: new Map(
      kind.versions.map((version) => [
        apiVersionOf({ kind, version }),
        version.scale === undefined ? undefined : splitPath(version.scale.specReplicas).map(memberElement),
      ]),
    ),
  };
}

/** The object with the replicas of a Scale. */
function writeReplicas(
  target: Target,
  paths: ScalePaths,
  live: JsonObject,
  scale: JsonObject,
): Result<JsonObject, Status> {
  const { kind } = target;
  const spec = scale["spec"];
  const replicas = isJsonObject(spec) ? toNumber(spec["replicas"]) : 0;
  const name = nameOf(live);
  const { resourceVersion, uid } = metadataOf(scale);
  const before = metadataOf(live);
  if (isBuiltIn(kind)) {
    if (replicas < 0) {
      const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
      const error = { reason: "FieldValueInvalid", field: "spec.replicas", message };
      return err(invalid({ group: "autoscaling", kind: "Scale" }, name, [error]));
    }
    if (uid !== undefined && uid !== before["uid"]) {
      const ids = `UID in precondition: ${metadataText(scale, "uid")}, UID in object meta: ${metadataText(live, "uid")}`;
      const resource = { group: kind.group, resource: `${kind.resource}/scale` };
      return err(conflict(resource, name, `Precondition failed: ${ids}`));
    }
  } else if (replicas === UNSET.replicas) {
    return err(badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicas)} cannot be empty`));
  }
  const changed = setValue(live, splitPath(paths.specReplicas), replicas);
  return ok(resourceVersion === undefined ? changed : withMetadata(changed, { resourceVersion }));
}

function splitPath(path: string): readonly string[] {
  return path.split(".").filter((part) => part !== "");
}

function getValue(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of splitPath(path)) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function setValue(object: JsonObject, [first = "", ...rest]: readonly string[], value: JsonValue): JsonObject {
  if (rest.length === 0) return { ...object, [first]: value };
  const inner = object[first];
  return { ...object, [first]: setValue(isJsonObject(inner) ? inner : {}, rest, value) };
}

function formatSelector(selector: JsonValue | undefined): string | undefined {
  if (typeof selector === "string") return selector;
  if (!isJsonObject(selector)) return undefined;
  const requirements = selectorRequirements(selector);
  return requirements.ok ? formatLabelSelector(requirements.value) : undefined;
}

function toNumber(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const entries = Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(entries);
}
