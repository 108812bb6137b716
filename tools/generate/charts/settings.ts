import type { ConfigSchema } from "@oaas/config";
import type { Value } from "./model.ts";

interface Setting {
  readonly name: string;
  readonly label: string;
  readonly doc: string;
  readonly isSecret: boolean;
}

/** The settings that a user of a chart may set: all but those that the chart sets itself. */
function settingsOf(schema: ConfigSchema<unknown>, managed: readonly string[]): readonly Setting[] {
  const names = new Set(schema.variables.map(({ at }) => at.name));
  const unknown = managed.filter((name) => !names.has(name));
  if (unknown.length > 0)
    throw new Error(`the chart sets ${unknown.join(", ")}, which ${schema.title} does not declare`);
  return schema.variables
    .filter(({ at }) => !managed.includes(at.name))
    .map(({ at }) => ({ name: at.name, label: at.kind.label, doc: at.doc, isSecret: at.secret && at.fromFile }));
}

/** The values `settings` and `secretSettings`, from the declarations of the program. */
export function settingValues(
  schema: ConfigSchema<unknown>,
  managed: readonly string[],
): { readonly settings: Value; readonly secretSettings: Value } {
  const all = settingsOf(schema, managed);
  const properties = all
    .filter(({ isSecret }) => !isSecret)
    .map(({ name, label, doc }) => [name, { description: doc, ...schemaOf(label) }] as const);
  const secrets = all
    .filter(({ isSecret }) => isSecret)
    .map(({ name, doc }) => [name, { description: doc, ...SECRET_KEY }] as const);
  return {
    settings: {
      doc: "Settings of the program by the name of their environment variable ([all settings](../../../docs/reference/configuration.md)).",
      default: {},
      schema: { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) },
    },
    secretSettings: {
      doc: "Secret settings by the name of their environment variable, each from a key of a Secret: `{name, key}`. They are mounted as files, and reloaded when they change.",
      default: {},
      schema: { type: "object", additionalProperties: false, properties: Object.fromEntries(secrets) },
    },
  };
}

export const SECRET_KEY = {
  type: "object",
  additionalProperties: false,
  required: ["name", "key"],
  properties: { name: { type: "string", minLength: 1 }, key: { type: "string", minLength: 1 } },
};

/** The JSON Schema of a kind of setting, from its label. The program checks the value again when it starts. */
function schemaOf(label: string): object {
  if (label === "true | false") return { type: "boolean" };
  if (label === "port") return { type: "integer", minimum: 0, maximum: 65_535 };
  if (/^(?:whole )?number\b/.test(label)) return numberSchema(label);
  if (label.startsWith("duration")) {
    const written = { type: "string", pattern: "^([0-9]+(\\.[0-9]+)?(ms|[smhd]))+$" };
    return label === "duration" ? written : { anyOf: [written, { type: "number", minimum: 0 }] };
  }
  if (label === "size in bytes")
    return {
      anyOf: [
        { type: "string", pattern: "^[0-9.]+ *([kKmMgGtT]i?)?[bB]?$" },
        { type: "integer", minimum: 0 },
      ],
    };
  if (label === "URL") return { type: "string", pattern: "^https?://" };
  if (label === "comma-separated list of key=value")
    return { anyOf: [{ type: "string" }, { type: "object", additionalProperties: { type: "string" } }] };
  if (label.startsWith("comma-separated list"))
    return { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] };
  if (/^[\w-]+(?: \| [\w-]+)+$/.test(label)) return { type: "string", enum: label.split(" | ") };
  return { type: "string" };
}

/** "whole number from 1 to 3", "number of at least 0.1", "number of at most 1". */
function numberSchema(label: string): object {
  const [first, second] = (label.match(/-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/g) ?? []).map(Number);
  const type = label.startsWith("whole") ? "integer" : "number";
  if (first === undefined) return { type };
  if (second !== undefined) return { type, minimum: first, maximum: second };
  return { type, [label.includes("at most") ? "maximum" : "minimum"]: first };
}
