import { GROUP, KINDS, rootSchema, VERSION, type KindDefinition, type StructuralSchema } from "@oaas/contracts/crd";
import type { Generator as FileGenerator } from "../generator.ts";

const PAGE = "docs/reference/crds.md";

/** The reference page of our Kubernetes kinds, from the same schemas as the CRDs. */
export const generator: FileGenerator = {
  name: "crd-reference",
  async produce() {
    return new Map([[PAGE, crdReference(KINDS)]]);
  },
};

/** The whole page. */
export function crdReference(kinds: readonly KindDefinition[]): string {
  const roots = kinds.map((definition) => ({ definition, root: rootSchema(definition) }));
  const shared = sharedBlocks(roots.flatMap(({ root }) => [root.properties?.["spec"], root.properties?.["status"]]));
  const sections = roots.map(({ definition, root }) => kindSection(definition, root, shared));
  const blocks = [...shared.values()].sort((a, b) => a.name.localeCompare(b.name));
  return [
    INTRODUCTION,
    ...sections,
    "## Shared blocks\n",
    ...blocks.map(({ name, schema }) => `### ${name}\n\n${block(schema, shared, schema)}`),
  ].join("\n");
}

const INTRODUCTION = `# Kubernetes kinds

<!-- Generated from packages/contracts/src/crd by \`npm run generate\`. Do not edit. -->

Group \`${GROUP}\`, version \`${VERSION}\`, all namespaced, all in the category \`oaas\` (\`kubectl get oaas\`). The CRDs are in
\`deploy/crds\`. Every kind has a status subresource.

- **Names.** OaaS fields are snake_case; fields taken from Kubernetes keep their camelCase names.
- **Enum values** are accepted in several spellings (\`read_write\`, \`ReadWrite\`, \`READ_WRITE\`); the tables show one.
- **Null** means absent, except where a field has a default.
- **Unknown fields** are pruned; \`kubectl\` reports them, because it requests strict validation.
- **\`observedGeneration\`** is the field we write. \`observed_generation\` stays in the schema so that values written by the
  Rust manager are not pruned.
- **Object names** have at most 63 characters, because they are used as label values.
- **Quote \`"off"\`** in YAML: bare, Kubernetes reads it as false.
- No field is immutable: a class can be changed in place and is reconciled.
- **Rules** over several fields are declared for the API server (CEL) and in our code, and tests run the same invalid objects
  through both. Known differences: the server accepts integers up to 2^63, our code node and shard ids up to 2^53; a null
  item in \`odgm_config.collections\` and a list in place of a timestamp pass the server but not our code.
- **Migration from the Rust manager.** Its objects remain valid under these CRDs, including null values. Values that our rules
  reject stay until they are edited; the server warns about them.
`;

interface Shared {
  readonly name: string;
  readonly schema: StructuralSchema;
}

/** Objects with three or more fields that occur in several places get their own section, named after their field. */
function sharedBlocks(roots: readonly (StructuralSchema | undefined)[]): ReadonlyMap<string, Shared> {
  const found = new Map<string, { name: string; schema: StructuralSchema; times: number }>();
  const visit = (schema: StructuralSchema, name: string): void => {
    if (Object.keys(schema.properties ?? {}).length >= 3 && schema.type === "object") {
      const id = identity(schema);
      const seen = found.get(id);
      if (seen) {
        seen.times += 1;
        return;
      }
      found.set(id, { name, schema, times: 1 });
    }
    for (const [member, child] of Object.entries(schema.properties ?? {})) visit(child, member);
    if (schema.items) visit(schema.items, name);
    if (schema.additionalProperties) visit(schema.additionalProperties, name);
  };
  for (const root of roots) if (root) visit(root, "");
  const repeated = [...found].filter(([, { times, name }]) => times > 1 && name !== "");
  const names = repeated.map(([, { name }]) => name);
  return new Map(repeated.filter(([, { name }]) => names.indexOf(name) === names.lastIndexOf(name)));
}

/** The structure of a block, independent of where it is used. */
function identity({
  description: _description,
  nullable: _nullable,
  default: _default,
  ...rest
}: StructuralSchema): string {
  return JSON.stringify(rest);
}

function kindSection(definition: KindDefinition, root: StructuralSchema, shared: ReadonlyMap<string, Shared>): string {
  const { kind, plural, shortNames, description, columns } = definition;
  const shown = columns.map(({ name, priority = 0 }) => (priority === 0 ? name : `${name} (wide)`)).join(", ");
  return [
    `## ${kind}\n`,
    `${description}\n`,
    `\`${plural}.${GROUP}\`, short name \`${shortNames.join("`, `")}\`. Columns: ${shown}, Age.\n`,
    ...(["spec", "status"] as const).map((part) => {
      const schema = root.properties?.[part] ?? {};
      return `### ${kind} ${part}\n\n${block(schema, shared, schema)}`;
    }),
  ].join("\n");
}

function block(schema: StructuralSchema, shared: ReadonlyMap<string, Shared>, top: StructuralSchema): string {
  const rows = [...rowsOf(schema, "", shared, top)];
  const rules = [...rulesOf(schema, "", shared, top)];
  return [
    "| Field | Type | Default | Meaning |",
    "|---|---|---|---|",
    ...rows.map((row) => `| ${row.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
    "",
    ...(rules.length === 0 ? [] : ["Rules:", ...rules.map((rule) => `- ${rule}`), ""]),
  ].join("\n");
}

type Row = readonly [field: string, type: string, fallback: string, meaning: string];

function* rowsOf(
  schema: StructuralSchema,
  path: string,
  shared: ReadonlyMap<string, Shared>,
  top: StructuralSchema,
): Generator<Row> {
  if (schema !== top && shared.has(identity(schema))) return;
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const at = path === "" ? name : `${path}.${name}`;
    const needed = (schema.required ?? []).includes(name) ? " **required**" : "";
    const fallback = member.default === undefined ? "" : `\`${JSON.stringify(member.default)}\``;
    yield [`\`${at}\`${needed}`, typeText(member, shared), fallback, member.description ?? ""];
    yield* rowsOf(...inside(member, at), shared, top);
  }
}

function* rulesOf(
  schema: StructuralSchema,
  path: string,
  shared: ReadonlyMap<string, Shared>,
  top: StructuralSchema,
): Generator<string> {
  if (schema !== top && shared.has(identity(schema))) return;
  for (const { message } of schema["x-kubernetes-validations"] ?? []) {
    yield path === "" ? `${message}.` : `\`${path}\`: ${message}.`;
  }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    yield* rulesOf(...inside(member, path === "" ? name : `${path}.${name}`), shared, top);
  }
}

/** The object of a field, through lists and maps, and its path. */
function inside(schema: StructuralSchema, path: string): [schema: StructuralSchema, path: string] {
  if (schema.items) return inside(schema.items, `${path}[]`);
  if (schema.additionalProperties) return inside(schema.additionalProperties, `${path}.*`);
  return [schema, path];
}

function typeText(schema: StructuralSchema, shared: ReadonlyMap<string, Shared>): string {
  const block = shared.get(identity(schema));
  if (block) return `[${block.name}](#${block.name.toLowerCase()})`;
  if (schema.items) {
    const also = schema.type === undefined ? ", or an object" : "";
    const unique = schema["x-kubernetes-list-type"] === "set" ? ", no repeats" : "";
    return `list of ${typeText(schema.items, shared)}${unique}${also}`;
  }
  if (schema.additionalProperties) return `map to ${typeText(schema.additionalProperties, shared)}`;
  if (schema.enum) return words(schema.enum);
  if (schema["x-kubernetes-int-or-string"]) return "number or quantity";
  if (schema.type === undefined)
    return schema.items ? "list or object" : schema.properties ? "string or object" : "anything";
  if (schema.format === "date-time") return "time";
  return schema.type + range(schema);
}

function words(all: readonly unknown[]): string {
  const seen = new Set<string>();
  const shown = all.filter((word): word is string => {
    if (typeof word !== "string") return false;
    const plain = word.toLowerCase().replaceAll("_", "");
    return !seen.has(plain) && Boolean(seen.add(plain));
  });
  return shown.map((word) => `\`${word === "" ? '""' : word}\``).join(", ");
}

function range({ minimum, maximum, exclusiveMinimum }: StructuralSchema): string {
  if (minimum === undefined && maximum === undefined) return "";
  const low = minimum === undefined ? "" : `${exclusiveMinimum ? "above " : ""}${minimum}`;
  const wide = maximum === undefined || maximum >= 2 ** 31 - 1;
  return wide ? ` ≥ ${low}` : ` ${low}…${maximum}`;
}
