import { canonicalJson } from "@oaas/foundation";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LAST_APPLIED_ANNOTATION,
  memberOf,
  withMember,
} from "@oaas/kube-core";
import type { StructuralSchema } from "../schema/structural-schema.ts";
import { NO_FIELDS, type FieldSet } from "./field-set.ts";
import { ownedFields } from "./owned-fields.ts";

/** Only kubectl changes from applying on its own side to applying on the server's. */
const KUBECTL = "kubectl";

interface Applier {
  readonly manager: string;
}

/** What kubectl applied on its own side before: its own, although another manager is written down for it. */
export function lastApplied({ manager }: Applier, live: JsonObject, schema: StructuralSchema): FieldSet {
  const text = manager === KUBECTL ? annotationIn(live) : undefined;
  const config = text === undefined ? undefined : parsed(text);
  return isJsonObject(config) ? ownedFields(config, schema) : NO_FIELDS;
}

/** The object with the annotation brought up to date, when it has one: whoever goes back to the client's side finds what was applied. */
export function withLastApplied({ manager }: Applier, object: JsonObject, config: JsonObject): JsonObject {
  if (manager !== KUBECTL || annotationIn(object) === undefined) return object;
  const text = `${canonicalJson(withAnnotation(config, undefined))}\n`;
  return withAnnotation(object, text);
}

function annotationIn(object: JsonObject): string | undefined {
  const text = memberOf(annotationsOf(object), LAST_APPLIED_ANNOTATION);
  return typeof text === "string" ? text : undefined;
}

function withAnnotation(object: JsonObject, text: string | undefined): JsonObject {
  const metadata = memberOf(object, "metadata");
  if (!isJsonObject(metadata)) return object;
  const { [LAST_APPLIED_ANNOTATION]: _before, ...others } = annotationsOf(object);
  const annotations = text === undefined ? others : { ...others, [LAST_APPLIED_ANNOTATION]: text };
  const { annotations: _all, ...rest } = metadata;
  const isEmpty = Object.keys(annotations).length === 0;
  return withMember(object, "metadata", isEmpty ? rest : { ...rest, annotations });
}

function annotationsOf(object: JsonObject): JsonObject {
  const metadata = memberOf(object, "metadata");
  const annotations = isJsonObject(metadata) ? memberOf(metadata, "annotations") : undefined;
  return isJsonObject(annotations) ? annotations : {};
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // An annotation that anybody may have written: what is no JSON says nothing.
    return undefined;
  }
}
