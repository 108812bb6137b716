import { Fault, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { z } from "zod";
import { KEYWORDS, keywordProblems, type StructuralSchema } from "./structural-keywords.ts";

type Json = Readonly<Record<string, unknown>>;

/** Bounds that zod adds to every integer; they are not part of the API. */
const SAFE = Number.MAX_SAFE_INTEGER;

/**
 * Converts a schema to the structural schema that the API server requires in a CRD.
 *
 * The result has a type at every node, no `$ref`, no `anyOf` with types and only keywords known to the server. Transforms
 * and refinements are left out (`withRules` writes rules). Throws an invalid-argument fault that lists every part without
 * a structural form.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    unrepresentable: "any",
    reused: "inline",
    cycles: "ref",
  });
  return structuralFromJson(json);
}

/** Converts JSON Schema in the dialect of OpenAPI 3.0. */
export function structuralFromJson(json: Json): StructuralSchema {
  const violations: Violation[] = [];
  const result = convert(json, ROOT_PATH, violations);
  if (violations.length === 0) return result;
  throw new Fault(
    { kind: "invalid-argument", violations },
    `The schema has no structural form: ${violations.map(({ path, message }) => `${path}: ${message}`).join("; ")}.`,
  );
}

function convert(json: Json, path: string, violations: Violation[]): StructuralSchema {
  const reject = (message: string): void => void violations.push({ path, message });
  const node: Record<string, unknown> = { ...json, ...unionOf(json, path, violations) };

  for (const keyword of ["$schema", "id", "~standard"]) delete node[keyword];
  tidyNumbers(node);
  tidyTimes(node);
  convertUnknownFields(node, reject);

  if (isObject(node["properties"])) {
    node["properties"] = mapValues(node["properties"], (child, name) => convert(child, pathOf(path, name), violations));
  }
  if (isObject(node["additionalProperties"])) {
    node["additionalProperties"] = convert(node["additionalProperties"], pathOf(path, "*"), violations);
  }
  if (isObject(node["items"])) node["items"] = convert(node["items"], `${path}[*]`, violations);

  for (const problem of keywordProblems(node)) reject(problem);
  return inOrder(node);
}

/**
 * A union has a structural form in two cases: int-or-string, and at most one each of string, list and object (a short or
 * deprecated form beside the full one). The keywords of the alternatives move up: a keyword applies to its own type only.
 */
function unionOf(json: Json, path: string, violations: Violation[]): Json {
  if (!Array.isArray(json["anyOf"])) return {};
  const members = json["anyOf"].filter((member): member is Json => isObject(member));
  const types = members.map((member) => String(member["type"]));
  const merged: Json = { ...Object.assign({}, ...members), description: json["description"], type: undefined };

  if (types.sort().join() === "integer,string") {
    return { ...merged, anyOf: undefined, "x-kubernetes-int-or-string": true };
  }
  if (
    types.length > 1 &&
    new Set(types).size === types.length &&
    types.every((type) => Object.hasOwn(IS_OF_TYPE, type))
  ) {
    const anyOf = types.map((type) => IS_OF_TYPE[type]);
    return { ...merged, anyOf, "x-kubernetes-preserve-unknown-fields": true };
  }
  violations.push({
    path,
    message: "this union has no structural form: only int-or-string, or one each of string, list, object",
  });
  return { anyOf: undefined, type: "object" };
}

/**
 * Type checks without the keyword `type`, which `anyOf` must not contain in a structural schema: a keyword holds for every
 * value of another type, so the negation of an unreachable bound matches one type only.
 */
const IS_OF_TYPE: Readonly<Record<string, object>> = {
  array: { not: { minItems: 1_048_576 } },
  object: { not: { required: ["\u2205"] } },
  string: { not: { minLength: 1_048_576 } },
};

function tidyNumbers(node: Record<string, unknown>): void {
  if (node["maximum"] === SAFE) delete node["maximum"];
  if (node["minimum"] === -SAFE) delete node["minimum"];
  if (node["type"] !== "integer") return;
  const { minimum, maximum } = node;
  const fits32 =
    typeof minimum === "number" && minimum >= -(2 ** 31) && typeof maximum === "number" && maximum < 2 ** 31;
  node["format"] = fits32 ? "int32" : "int64";
}

/** The server validates date-time itself; zod's pattern is not needed. */
function tidyTimes(node: Record<string, unknown>): void {
  if (node["format"] === "date-time") delete node["pattern"];
}

function convertUnknownFields(node: Record<string, unknown>, reject: (message: string) => void): void {
  const rest = node["additionalProperties"];
  const open = rest === true || (isObject(rest) && Object.keys(rest).length === 0);
  if (open) {
    delete node["additionalProperties"];
    node["x-kubernetes-preserve-unknown-fields"] = true;
  } else if (rest === false) {
    reject("additionalProperties: false is forbidden; unknown fields are pruned anyway");
  } else if (rest !== undefined && node["properties"] !== undefined) {
    reject("properties and additionalProperties exclude each other");
  }
  const isAny =
    !open && node["type"] === undefined && node["enum"] === undefined && node["x-kubernetes-int-or-string"] !== true;
  if (isAny && node["$ref"] === undefined) node["x-kubernetes-preserve-unknown-fields"] = true;
}

function inOrder(node: Record<string, unknown>): StructuralSchema {
  const entries = KEYWORDS.flatMap((keyword) => {
    const value = node[keyword];
    const empty = keyword === "properties" && isObject(value) && Object.keys(value).length === 0;
    return value === undefined || empty ? [] : [[keyword, value] as const];
  });
  return Object.fromEntries(entries);
}

function mapValues(object: Json, change: (value: Json, key: string) => unknown): Json {
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [key, change(isObject(value) ? value : {}, key)]),
  );
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
