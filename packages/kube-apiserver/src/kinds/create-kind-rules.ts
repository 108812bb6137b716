import { ok } from "@oaas/foundation";
import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import type { KindRules } from "./kind.ts";
import { validateMetadata } from "./validation/metadata.ts";

/** Rules with neutral defaults for missing members, as for custom kinds. */
export function createKindRules(overrides: Partial<KindRules>): KindRules {
  return { ...NEUTRAL, ...overrides };
}

const NEUTRAL: KindRules = {
  countsGenerations: true,
  startsGeneration: (next, live) => !equalJson(contentOf(next), contentOf(live)),
  isValidatedBySchema: true,
  decode: (object) => ok(object),
  convert: (object, apiVersion) => (object["apiVersion"] === apiVersion ? object : { ...object, apiVersion }),
  readBack: (object) => object,
  selectableText: (object, field) => scalarText(valueAtPath(object, field)),
  applyDefaults: (object) => object,
  prepareCreate: (object) => object,
  prepareUpdate: (next) => next,
  prepareStatus: (next) => next,
  forbiddenReason: () => undefined,
  errors: (object) => validateMetadata(object),
  warnings: () => [],
  statusErrors: () => [],
  updateErrors: () => [],
  partialWrites: {},
  allowsUnconditionalUpdate: false,
  createsOnUpdate: false,
  returnsDeletedObject: false,
  orphansByDefault: false,
  keepsNewStatus: false,
  isValidatedTwice: false,
  keptByStatus: "all",
  isGraceful: false,
  graceSeconds: () => 0,
  isHeld: () => false,
  markForDeletion: (object) => object,
};

/** The authored parts: all except metadata and status. */
function contentOf({ metadata: _metadata, status: _status, ...content }: JsonObject): JsonObject {
  return content;
}

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
