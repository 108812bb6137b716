import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "@oaas/kube-core";
import { TYPE_DEFAULTS } from "../defaults/type-defaults.ts";
import { KIND_DATA } from "../built-in/kind-data.ts";
import { elementOf } from "./go-types.ts";

/** A member that leads to types with defaults. */
interface Way {
  readonly name: string;
  readonly type: string;
  readonly default?: JsonValue;
}

/** The plan of a type: fill it in, then visit members that matter. */
interface Plan {
  readonly fill?: (object: JsonObject) => JsonObject;
  readonly ways: readonly Way[];
}

const plans = new Map<string, Plan>();

/** Applies the defaults of Go code; idempotent. */
export function goDefaulted(object: JsonObject, openApiName: string): JsonObject {
  return defaulted(object, planOf(openApiName));
}

function defaulted(object: JsonObject, { fill, ways }: Plan): JsonObject {
  const own = fill === undefined ? object : fill(object);
  let result: Record<string, JsonValue> | undefined;
  for (const way of ways) {
    const before = Object.hasOwn(own, way.name) ? own[way.name] : undefined;
    const after = before === undefined ? way.default : inside(before, way.type);
    if (after === undefined || after === before) continue;
    result ??= { ...own };
    result[way.name] = after;
  }
  return result ?? own;
}

/** A value of a type, a list or a map of them. */
function inside(value: JsonValue, type: string): JsonValue {
  if (type === "") return value;
  const plan = planOf(type);
  if (isJsonArray(value)) {
    const items = value.map((item) => (isJsonObject(item) ? defaulted(item, plan) : item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  return isJsonObject(value) ? defaulted(value, plan) : value;
}

function planOf(type: string): Plan {
  const known = plans.get(type);
  if (known !== undefined) return known;
  // Set before it is complete, for recursive types.
  const ways: Way[] = [];
  const fill = TYPE_DEFAULTS[type];
  const plan: Plan = fill === undefined ? { ways } : { fill, ways };
  plans.set(type, plan);
  const properties = KIND_DATA.schemas[type]?.["properties"];
  for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (!isJsonObject(schema)) continue;
    const element = elementOf(schema);
    const value = realDefault(schema["default"]);
    if (value !== undefined) ways.push({ name, type: "", default: value });
    else if (element !== undefined && leadsToDefaults(element, new Set())) ways.push({ name, type: element });
  }
  return plan;
}

/** A default that differs from Go's zero value. */
function realDefault(value: JsonValue | undefined): JsonValue | undefined {
  const isZero = value === "" || value === 0 || value === false || value === null || typeof value === "object";
  return isZero ? undefined : value;
}

function leadsToDefaults(type: string, seen: Set<string>): boolean {
  if (TYPE_DEFAULTS[type] !== undefined) return true;
  if (seen.has(type)) return false;
  seen.add(type);
  const properties = KIND_DATA.schemas[type]?.["properties"];
  return Object.values(isJsonObject(properties) ? properties : {}).some((schema) => {
    if (!isJsonObject(schema)) return false;
    const element = elementOf(schema);
    return realDefault(schema["default"]) !== undefined || (element !== undefined && leadsToDefaults(element, seen));
  });
}
