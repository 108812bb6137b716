import { ok } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import type { KindRules } from "./kind.ts";

/** Rules with whatever is not said neutral, as it is for kinds of definitions. */
export function rulesOf(said: Partial<KindRules>): KindRules {
  return { ...NEUTRAL, ...said };
}

const NEUTRAL: KindRules = {
  countsGenerations: true,
  isValidatedBySchema: true,
  decoded: (object) => ok(object),
  converted: (object, apiVersion) => (object["apiVersion"] === apiVersion ? object : { ...object, apiVersion }),
  selectableText: (object, field) => scalarText(valueAtPath(object, field)),
  defaulted: (object) => object,
  prepareCreate: (object) => object,
  prepareUpdate: (next) => next,
  errors: () => [],
  updateErrors: () => [],
};

/** The value at a dotted path of plain names. */
export function valueAtPath(object: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = object;
  for (const name of path.split(".")) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}

function scalarText(value: JsonValue | undefined): string {
  return value === undefined || value === null || typeof value === "object" ? "" : String(value);
}
