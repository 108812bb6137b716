/** The keywords of structural schemas (apiextensions.k8s.io/v1) that we use. */
export interface StructuralSchema {
  readonly description?: string;
  readonly type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  readonly format?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly nullable?: boolean;
  readonly anyOf?: readonly object[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema;
  readonly items?: StructuralSchema;
  readonly "x-kubernetes-int-or-string"?: true;
  readonly "x-kubernetes-preserve-unknown-fields"?: true;
  readonly "x-kubernetes-list-type"?: "atomic" | "map" | "set";
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: "atomic" | "granular";
  readonly "x-kubernetes-validations"?: readonly ValidationRule[];
}

/** One CEL rule as the API server reads it. */
export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly fieldPath?: string;
}

/** All supported keywords, in output order. */
export const KEYWORDS = [
  "description",
  "type",
  "format",
  "default",
  "enum",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "exclusiveMinimum",
  "maximum",
  "exclusiveMaximum",
  "multipleOf",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "nullable",
  "anyOf",
  "required",
  "properties",
  "additionalProperties",
  "items",
  "x-kubernetes-int-or-string",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-validations",
] as const satisfies readonly (keyof StructuralSchema)[];

const KNOWN: ReadonlySet<string> = new Set(KEYWORDS);
const TYPES: ReadonlySet<unknown> = new Set(["object", "array", "string", "integer", "number", "boolean"]);
/** Formats known to the API server; it ignores others silently. */
const FORMATS: ReadonlySet<unknown> = new Set([
  "date-time",
  "date",
  "int32",
  "int64",
  "float",
  "double",
  "byte",
  "uri",
  "uuid",
]);
/** Regular expression features missing in RE2. */
const NOT_RE2 = /\(\?[=!<]|\\[1-9]/;

type Node = Readonly<Record<string, unknown>>;

/** The parts of one node that the API server would reject or silently ignore. */
export function keywordProblems(node: Node): string[] {
  const problems: string[] = [];
  const given = Object.keys(node).filter((keyword) => node[keyword] !== undefined);
  for (const keyword of given) {
    if (!KNOWN.has(keyword)) problems.push(`${keyword} is not a keyword of structural schemas`);
  }
  const untyped = node["x-kubernetes-int-or-string"] === true || node["x-kubernetes-preserve-unknown-fields"] === true;
  if (node["type"] === undefined ? !untyped : !TYPES.has(node["type"])) problems.push("a type is needed");
  if (node["type"] === "array" && node["items"] === undefined) problems.push("an array needs items");
  if (node["format"] !== undefined && !FORMATS.has(node["format"]))
    problems.push(`format ${JSON.stringify(node["format"])} is not checked by the server`);
  if (typeof node["pattern"] === "string" && NOT_RE2.test(node["pattern"]))
    problems.push("the pattern uses features missing in RE2");
  if (node["nullable"] === true && Array.isArray(node["enum"]) && !node["enum"].includes(null)) {
    problems.push("a nullable enum must list null");
  }
  return [...problems, ...listProblems(node)];
}

function listProblems(node: Node): string[] {
  const items = (node["items"] ?? {}) as StructuralSchema;
  switch (node["x-kubernetes-list-type"]) {
    case "map": {
      const keys = (node["x-kubernetes-list-map-keys"] ?? []) as readonly string[];
      if (keys.length === 0) return ["listType map needs keys"];
      return keys
        .filter((key) => !(items.required ?? []).includes(key) && items.properties?.[key]?.default === undefined)
        .map((key) => `listType map needs ${key} to be required or to have a default`);
    }
    case "set":
      return items.type === "object" || items.type === "array" ? ["listType set needs scalar items"] : [];
    default:
      return [];
  }
}
