import { err, ok, type Result } from "@oaas/foundation";
import {
  formatLabelSelector,
  isJsonObject,
  selectorRequirements,
  type JsonObject,
  type JsonValue,
  type Status,
} from "@oaas/kube-core";
import { metadataOf, nameOf } from "../admission/metadata.ts";
import type { ScalePaths } from "../kinds/kind.ts";
import { invalid } from "../request/refusals.ts";
import { isBuiltIn, type Target } from "./world.ts";

/** What `/scale` shows of an object. */
export function scaleOf({ kind }: Target, paths: ScalePaths, object: JsonObject): Result<JsonObject, Status> {
  const replicas = valueAt(object, paths.specReplicas);
  if (replicas === undefined && !isBuiltIn(kind)) {
    const why = `the spec replicas field ${JSON.stringify(paths.specReplicas)} does not exist`;
    const message = `Internal error occurred: ${why}`;
    return err({
      status: "Failure",
      message,
      reason: "InternalError",
      details: { causes: [{ message: why }] },
      code: 500,
    });
  }
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const selector = paths.labelSelector === undefined ? undefined : selectorText(valueAt(object, paths.labelSelector));
  return ok({
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: defined({ name, namespace, uid, resourceVersion, creationTimestamp }),
    spec: numberOf(replicas) === 0 ? {} : { replicas: numberOf(replicas) },
    status: defined({ replicas: numberOf(valueAt(object, paths.statusReplicas)), selector }),
  });
}

/** The object with the replicas that a Scale asks for. */
export function withScale(
  { kind }: Target,
  paths: ScalePaths,
  live: JsonObject,
  scale: JsonObject,
): Result<JsonObject, Status> {
  const spec = scale["spec"];
  const replicas = isJsonObject(spec) ? numberOf(spec["replicas"]) : 0;
  const name = nameOf(live);
  if (replicas < 0) {
    const field = isBuiltIn(kind) ? "spec.replicas" : paths.specReplicas;
    const why = isBuiltIn(kind) ? "must be greater than or equal to 0" : "should be a non-negative integer";
    const error = { reason: "FieldValueInvalid", field, message: `Invalid value: ${replicas}: ${why}` };
    return err(invalid(isBuiltIn(kind) ? { group: "autoscaling", kind: "Scale" } : kind, name, [error]));
  }
  const { resourceVersion, uid } = metadataOf(scale);
  const changed = withValueAt(live, segments(paths.specReplicas), replicas);
  const metadata = {
    ...metadataOf(live),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    ...(uid === undefined ? {} : { uid }),
  };
  return ok({ ...changed, metadata });
}

/** The object less a count of zero, which a Scale does not show and so nobody owns. */
export function withoutZero(paths: ScalePaths, object: JsonObject): JsonObject {
  return valueAt(object, paths.specReplicas) === 0
    ? withValueAt(object, segments(paths.specReplicas), undefined)
    : object;
}

function segments(path: string): readonly string[] {
  return path.split(".").filter((part) => part !== "");
}

function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of segments(path)) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

function withValueAt(
  object: JsonObject,
  [first = "", ...rest]: readonly string[],
  value: JsonValue | undefined,
): JsonObject {
  if (rest.length === 0)
    return value === undefined ? defined({ ...object, [first]: value }) : { ...object, [first]: value };
  const inner = object[first];
  return { ...object, [first]: withValueAt(isJsonObject(inner) ? inner : {}, rest, value) };
}

function selectorText(selector: JsonValue | undefined): string | undefined {
  if (typeof selector === "string") return selector;
  if (!isJsonObject(selector)) return undefined;
  const requirements = selectorRequirements(selector);
  return requirements.ok ? formatLabelSelector(requirements.value) : undefined;
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === "number" ? value : 0;
}

function defined(members: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const kept = Object.entries(members).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(kept);
}
