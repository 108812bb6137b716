import { nearestName } from "@oaas/foundation";
import { UsageError } from "../exit-code.ts";
import { objectSchema, nonNullSchema, type Schema, type Schemas } from "./json-schema.ts";

/** The description of a field or of a whole document. */
export interface FieldDescription {
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly allowed: readonly string[];
  readonly fields: readonly Omit<FieldDescription, "fields">[];
}

/** The documents that `explain` describes. */
const ROOTS: Readonly<Record<string, { readonly schema: string; readonly what: string }>> = {
  package: { schema: "OPackageInput", what: "A versioned set of classes and functions." },
  class: { schema: "OClassInput", what: "Functions and their shared state." },
  function: { schema: "OFunctionInput", what: "A container image or WASM module with its scale and settings." },
  deployment: { schema: "DeploymentRequest", what: "The clusters in which a class runs, and its requirements." },
  cluster: { schema: "ClusterRegistrationRequest", what: "A Kubernetes cluster with a class runtime manager." },
  "class-runtime": { schema: "ApiClassRuntime", what: "A deployed class in one cluster, as the cluster reports it." },
  event: { schema: "StreamEvent", what: "A change of an object, as oaas events streams it." },
};

/** Whether the text is a field path instead of a deployment key. */
export function isFieldPath(text: string): boolean {
  return Object.hasOwn(ROOTS, text.split(".")[0] ?? "");
}

/** Describes a path such as `package.classes.function_bindings`. A list stands for its items. */
export function describeField(path: string, schemas: Schemas): FieldDescription {
  const [kind = "", ...names] = path.split(".");
  const root = ROOTS[kind];
  if (!root) throw new UsageError(`unknown document "${kind}"`, `start with one of ${Object.keys(ROOTS).join(", ")}`);
  let at: Place = { schema: { $ref: `/${root.schema}` }, id: root.schema, isRequired: true, description: root.what };
  for (const [index, name] of names.entries()) {
    const { id, body } = objectSchema(at, schemas);
    const next = body?.properties?.[name];
    if (!next) {
      const known = declaredFields(body).map(([each]) => each);
      const here = [kind, ...names.slice(0, index)].join(".");
      throw new UsageError(
        `${here} has no field "${name}"`,
        known.length === 0 ? `its type is ${typeText(at.schema)}` : suggestField(name, known),
      );
    }
    at = toPlace(next, name, id, body);
  }
  const { id, body } = objectSchema(at, schemas);
  const fields = declaredFields(body).map(([name, schema]) =>
    toDescription(`${path}.${name}`, toPlace(schema, name, id, body)),
  );
  return { ...toDescription(path, at), fields };
}

/** The fields that have an effect. */
function declaredFields(body: Schema | undefined): readonly [string, Schema][] {
  return Object.entries(body?.properties ?? {}).filter(([, schema]) => schema["x-ignored"] !== true);
}

function suggestField(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined
    ? `its fields are ${known.join(", ")}`
    : `did you mean ${nearest}? Its fields are ${known.join(", ")}`;
}

interface Place {
  readonly schema: Schema;
  /** The id of an anonymous schema. */
  readonly id: string;
  readonly isRequired: boolean;
  readonly description: string;
}

function toPlace(schema: Schema, name: string, id: string, body: Schema | undefined): Place {
  const isRequired = body?.required?.includes(name) ?? false;
  const description = (schema.description ?? "").replaceAll("`", "");
  return { schema, id: `${id}.${name}`, isRequired, description };
}

function toDescription(path: string, { schema, isRequired, description }: Place): Omit<FieldDescription, "fields"> {
  return { path, type: typeText(schema), isRequired, description, allowed: allowedValues(schema) };
}

function typeText(schema: Schema): string {
  const one = nonNullSchema(schema);
  if (one.$ref !== undefined) return "object";
  if (one.items) return `list of ${typeText(one.items)}`;
  if (one.type === "object") {
    const values = typeof one.additionalProperties === "object" ? one.additionalProperties : undefined;
    return values ? `map of ${typeText(values)}` : "object";
  }
  const types = [one.type ?? "string"].flat().filter((type) => type !== "null");
  return types.includes("string") ? "string" : types.join(" or ");
}

function allowedValues(schema: Schema): readonly string[] {
  const one = nonNullSchema(schema);
  const item = one.items ? nonNullSchema(one.items) : one;
  const words = item.enum?.map(String) ?? [];
  const { minimum, maximum } = one;
  const range = minimum === undefined && maximum === undefined ? [] : [`${minimum ?? "…"} to ${maximum ?? "…"}`];
  const form = /^Must be (?<form>an? .*)\.$/.exec(item.description ?? "")?.groups?.["form"];
  return [...words, ...range, ...(form === undefined ? [] : [form])];
}
