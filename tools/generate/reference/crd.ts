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

- **Names.** OaaS' own fields are snake_case, Kubernetes' own things keep Kubernetes' spelling.
- **Words.** A word that the source documents spell in several ways (\`read_write\`, \`ReadWrite\`, \`READ_WRITE\`) is accepted in
  each; the tables show one.
- **Null** means absent, except where a field has a default.
- **Unknown fields** are dropped; \`kubectl\` names them, because it asks for strict validation.
- **\`observedGeneration\`** is ours. \`observed_generation\` is kept in the schema so that what the Rust manager writes is not
  dropped; nothing of ours writes it.
- **Object names** have at most 63 characters, because they become labels.
- **Quote \`"off"\`** in YAML: bare, Kubernetes reads it as false.
- No field is immutable: a class may be changed in place, and CRM converges.
- **Rules** over several fields are stated once for the API server (CEL) and once in our code, and the same table of wrong
  objects is run through both. Known differences: the server takes whole numbers up to 2^63, our code ids of nodes and shards
  up to 2^53; a null item in \`odgm_config.collections\`, and a list in place of a time, pass the server and not our code.
- **Taking over from the Rust manager.** Its objects keep working under these CRDs, nulls and all. Values that our rules forbid
  may stay until they are edited; the server warns about them.
`;

interface Shared {
  readonly name: string;
  readonly schema: StructuralSchema;
}

/** Objects of some size that stand in several places get a section of their own, named after the member that holds them. */
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

/** What a block consists of, without what is said about the place where it stands. */
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

/** The object a member leads to, through lists and maps, and its path. */
function inside(schema: StructuralSchema, path: string): [schema: StructuralSchema, path: string] {
  if (schema.items) return inside(schema.items, `${path}[]`);
  if (schema.additionalProperties) return inside(schema.additionalProperties, `${path}.*`);
  return [schema, path];
}

function typeText(schema: StructuralSchema, shared: ReadonlyMap<string, Shared>): string {
  const block = shared.get(identity(schema));
  if (block) return `[${block.name}](#${block.name})`;
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
