import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { TYPE_DEFAULTS } from "../defaults/type-defaults.ts";
import { KIND_DATA } from "../built-in/kind-data.ts";
import { getElementType } from "./go-types.ts";

/** A member that leads to types with defaults. */
interface MemberPlan {
  readonly name: string;
  readonly type: string;
  readonly default?: JsonValue;
}

/** The plan of a type: fill it in, then visit members that matter. */
interface Plan {
  readonly fill?: (object: JsonObject) => JsonObject;
  readonly members: readonly MemberPlan[];
}

const plans = new Map<string, Plan>();

/** Applies the defaults of Go code; idempotent. */
export function applyGoDefaults(object: JsonObject, openApiName: string): JsonObject {
  return applyPlan(object, getPlan(openApiName));
}

function applyPlan(object: JsonObject, { fill, members }: Plan): JsonObject {
  const own = fill === undefined ? object : fill(object);
  let result: Record<string, JsonValue> | undefined;
  for (const member of members) {
    const before = Object.hasOwn(own, member.name) ? own[member.name] : undefined;
    const after = before === undefined ? member.default : applyNested(before, member.type);
    if (after === undefined || after === before) continue;
    result ??= { ...own };
    result[member.name] = after;
  }
  return result ?? own;
}

/** A value of a type, a list or a map of them. */
function applyNested(value: JsonValue, type: string): JsonValue {
  if (type === "") return value;
  const plan = getPlan(type);
  if (isJsonArray(value)) {
    const items = value.map((item) => (isJsonObject(item) ? applyPlan(item, plan) : item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return isJsonObject(value) ? applyPlan(value, plan) : value;
}

function getPlan(type: string): Plan {
  const cached = plans.get(type);
  if (cached !== undefined) return cached;
  // Set before it is complete, for recursive types.
  const members: MemberPlan[] = [];
  const fill = TYPE_DEFAULTS[type];
  const plan: Plan = fill === undefined ? { members } : { fill, members };
  plans.set(type, plan);
  const properties = KIND_DATA.schemas[type]?.["properties"];
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!isJsonObject(schema)) continue;
    const element = getElementType(schema);
    const value = getDefault(schema["default"]);
    if (value !== undefined) members.push({ name, type: "", default: value });
    else if (element !== undefined && hasDefaults(element, new Set())) members.push({ name, type: element });
  }
  return plan;
}

/** A default that differs from Go's zero value. */
function getDefault(value: JsonValue | undefined): JsonValue | undefined {
  const isZero = value === "" || value === 0 || value === false || value === null || typeof value === "object";
  return isZero ? undefined : value;
}

function hasDefaults(type: string, seen: Set<string>): boolean {
  if (TYPE_DEFAULTS[type] !== undefined) return true;
  if (seen.has(type)) return false;
  seen.add(type);
  const properties = KIND_DATA.schemas[type]?.["properties"];
  return Object.values(isJsonObject(properties) ? properties : {}).some((schema) => {
    if (!isJsonObject(schema)) return false;
    const element = getElementType(schema);
    return getDefault(schema["default"]) !== undefined || (element !== undefined && hasDefaults(element, seen));
  });
}
