import { canonicalJson } from "@oaas/foundation";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LAST_APPLIED_ANNOTATION,
  memberOf,
  withMember,
} from "@oaas/kube-core";
import type { StructuralSchema } from "../../schema/structural-schema.ts";
import { NO_FIELDS, type FieldSet } from "../fields/field-set.ts";
import { collectOwnedFields } from "../merge/owned-fields.ts";

/** Only kubectl migrates from client-side to server-side apply. */
const KUBECTL = "kubectl";

interface Applier {
  readonly manager: string;
}

/** The fields that kubectl applied client-side before: they belong to it, although another manager is recorded. */
export function getLastAppliedFields({ manager }: Applier, live: JsonObject, schema: StructuralSchema): FieldSet {
  const text = manager === KUBECTL ? getAnnotation(live) : undefined;
  const config = text === undefined ? undefined : parseJson(text);
  return isJsonObject(config) ? collectOwnedFields(config, schema) : NO_FIELDS;
}

/** Updates the annotation if the object has one, so that a later client-side apply works. */
export function updateLastApplied({ manager }: Applier, object: JsonObject, config: JsonObject): JsonObject {
  if (manager !== KUBECTL || getAnnotation(object) === undefined) return object;
  const text = `${canonicalJson(setAnnotation(config, undefined))}\n`;
  return setAnnotation(object, text);
}

function getAnnotation(object: JsonObject): string | undefined {
  const text = memberOf(getAnnotations(object), LAST_APPLIED_ANNOTATION);
  return typeof text === "string" ? text : undefined;
}

function setAnnotation(object: JsonObject, text: string | undefined): JsonObject {
  const metadata = memberOf(object, "metadata");
  if (!isJsonObject(metadata)) return object;
  const { [LAST_APPLIED_ANNOTATION]: _before, ...others } = getAnnotations(object);
  const annotations = text === undefined ? others : { ...others, [LAST_APPLIED_ANNOTATION]: text };
  const { annotations: _all, ...rest } = metadata;
  const isEmpty = Object.keys(annotations).length === 0;
  return withMember(object, "metadata", isEmpty ? rest : { ...rest, annotations });
}

function getAnnotations(object: JsonObject): JsonObject {
  const metadata = memberOf(object, "metadata");
  const annotations = isJsonObject(metadata) ? memberOf(metadata, "annotations") : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The annotation can contain anything: ignore text that is not JSON.
    return undefined;
  }
}
