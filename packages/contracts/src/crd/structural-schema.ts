import { Fault, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { z } from "zod";
import { KEYWORDS, keywordProblems, type StructuralSchema } from "./structural-keywords.ts";

type Json = Readonly<Record<string, unknown>>;

/** Bounds that zod adds to every integer; they are JavaScript's, not the API's, and print badly. */
const SAFE = Number.MAX_SAFE_INTEGER;

/**
 * Turns a schema into the structural form that the API server demands of a CRD.
 *
 * Guarantees: the result has a type at every node, no `$ref`, no `anyOf` with types, and no keyword the server does not
 * know. Caveats: transforms and refinements cannot be expressed and are left out (rules are written by `withRules`).
 * Errors: an invalid-argument fault that lists every place that has no structural form.
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

/** The same from JSON Schema in the dialect of OpenAPI 3.0. */
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
  const refuse = (message: string): void => void violations.push({ path, message });
  const node: Record<string, unknown> = { ...json, ...unionOf(json, path, violations) };

  for (const keyword of ["$schema", "id", "~standard"]) delete node[keyword];
  tidyNumbers(node);
  tidyTimes(node);
  settleUnknownMembers(node, refuse);

  if (isObject(node["properties"])) {
    node["properties"] = mapValues(node["properties"], (child, name) => convert(child, pathOf(path, name), violations));
  }
  if (isObject(node["additionalProperties"])) {
    node["additionalProperties"] = convert(node["additionalProperties"], pathOf(path, "*"), violations);
  }
  if (isObject(node["items"])) node["items"] = convert(node["items"], `${path}[*]`, violations);

  for (const problem of keywordProblems(node)) refuse(problem);
  return inOrder(node);
}

/**
 * A union has a structural form in two cases only: a number or text (Kubernetes' own int-or-string), and one each of
 * text, list and object (a short or older form beside the full one). What the members demand moves up beside them: a
 * keyword binds values of its own type only.
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
    message: "this union has no structural form: only int-or-string, or one each of text, list, object",
  });
  return { anyOf: undefined, type: "object" };
}

/**
 * Says "is of this type" without the word type, which `anyOf` may not hold: a keyword is true of every value of another
 * type, so only a text can fail a length no text reaches, and only an object can fail to have a member.
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

/** The server checks date-time itself; zod's pattern for it is longer than the rest of a field. */
function tidyTimes(node: Record<string, unknown>): void {
  if (node["format"] === "date-time") delete node["pattern"];
}

function settleUnknownMembers(node: Record<string, unknown>, refuse: (message: string) => void): void {
  const rest = node["additionalProperties"];
  const open = rest === true || (isObject(rest) && Object.keys(rest).length === 0);
  if (open) {
    delete node["additionalProperties"];
    node["x-kubernetes-preserve-unknown-fields"] = true;
  } else if (rest === false) {
    refuse("additionalProperties: false is forbidden; unknown members are pruned anyway");
  } else if (rest !== undefined && node["properties"] !== undefined) {
    refuse("properties and additionalProperties exclude each other");
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
