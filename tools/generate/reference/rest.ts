import { openApiDocument } from "../../../packages/contracts/src/rest/openapi/document.ts";
import type { Generator } from "../generator.ts";
import { sentence, table } from "./markdown.ts";

/** The reference page of the package manager's REST interface, from the same document as `/openapi.json`. */
export const generator: Generator = {
  name: "rest-reference",
  produce: async () => new Map([["docs/reference/rest.md", restReference(document())]]),
};

/** A JSON schema, as far as the contract uses them. */
interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly summary: string;
  readonly tags: readonly string[];
  readonly "x-role": string;
  readonly "x-alias-of"?: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description?: string }>>;
}

interface Parameter {
  readonly name?: string;
  readonly in?: string;
  readonly description?: string;
  readonly $ref?: string;
}

interface Document {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, { readonly name: string; readonly description: string }>>;
    readonly headers: Readonly<Record<string, { readonly description: string }>>;
  };
}

function document(): Document {
  return JSON.parse(JSON.stringify(openApiDocument("1.0.0"))) as Document;
}

/** A document that has all members of another is told as that one and what it adds. */
const EXTENDS: Readonly<Record<string, string>> = { DeploymentRequest: "OClassDeploymentInput" };

export function restReference({ tags, paths, components }: Document): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const { schemas } = components;
  const names = Object.keys(schemas);
  const queries = new Map(
    operations
      .flatMap(({ parameters }) => parameters.filter((parameter) => parameter.in === "query"))
      .map(({ name = "", description = "" }) => [name, description]),
  );
  return [
    INTRODUCTION,
    "## Headers\n",
    table(
      ["Header", "Meaning"],
      Object.values(components.parameters).map(({ name, description }) => [`\`${name}\``, description]),
    ),
    "",
    ...tags.flatMap(({ name, description }) => [
      `## ${sentence(name).slice(0, -1)}\n`,
      `${description}\n`,
      table(
        ["Request", "Role", "What it does", "Query", "Body", "Answer"],
        operations.filter(({ tags: [tag] }) => tag === name).map(operationRow),
      ),
      "",
    ]),
    "## Query parameters\n",
    table(
      ["Parameter", "Meaning"],
      [...queries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
    "",
    "## Documents that are sent\n",
    "JSON or YAML. Members that nobody knows are ignored; `null` is absent. **Bold** ones are required.\n",
    ...names.filter(isSent).map((name) => documentSection(name, schemas)),
    "## Documents that are answered\n",
    "What is not always there may be absent or `null`. Members that a later release adds are to be ignored.\n",
    ...names.filter((name) => !isSent(name)).map((name) => documentSection(name, schemas)),
  ].join("\n");
}

const INTRODUCTION = `# REST

<!-- Generated from packages/contracts/src/rest by \`npm run generate\`. Do not edit. -->

The package manager's interface, at \`SERVER_PORT\`. A running one serves this as OpenAPI 3.1 at \`/openapi.json\` and as a page at \`/docs\`.

- **Who.** \`authorization: Bearer <token>\`. Roles: *viewer* reads, *deployer* also changes packages and deployments, *admin* also clusters; *public* asks nobody.
- **Errors** are \`application/problem+json\`; [errors](errors.md) lists codes and statuses.
- **Lists** take \`limit\` with \`offset\` or \`page_token\`, and answer \`x-total-count\` and \`x-next-page-token\`; \`x-missing-clusters\` names clusters that could not be asked.
- **Concurrent changes.** Single reads answer an \`ETag\`; a write with \`if-match\` is refused (412) when the thing has changed since.
- **Repeating.** A POST or PUT with an \`idempotency-key\` is carried out once, however often it is sent, also when the process that took it died; the key is kept for a day. While it is being carried out, the same request is answered with 409, \`OAAS_REQUEST_RUNNING\` and \`retry-after\`.
- **Streams** are server-sent events ([events](events.md)).
`;

function operationRow(operation: Operation & { readonly path: string; readonly method: string }): string[] {
  const { method, path, summary, parameters, requestBody, responses } = operation;
  const query = parameters.flatMap(({ in: place, name }) => (place === "query" ? [`\`${name}\``] : []));
  const answers = Object.entries(responses).flatMap(([status, answer]) =>
    status.startsWith("2") ? [`${status} ${contentText(answer)}`.trim()] : [],
  );
  const alias = operation["x-alias-of"] === undefined ? "" : " (another spelling)";
  return [
    `\`${method} ${path}\``,
    operation["x-role"],
    `${sentence(summary).slice(0, -1)}${alias}.`,
    query.join(", "),
    requestBody === undefined ? "" : contentText(requestBody),
    answers.join("; "),
  ];
}

function contentText({ content = {} }: Content): string {
  const [[type, { schema }] = ["", {}]] = Object.entries(content);
  if (schema === undefined || schema.type === "string") return type === "" ? "" : `\`${type}\``;
  return typeText(schema);
}

function documentSection(name: string, schemas: Document["components"]["schemas"]): string {
  const base = EXTENDS[name];
  const inherited = base === undefined ? {} : (schemas[base]?.properties ?? {});
  const { description = "", properties = {}, required = [] } = schemas[name] ?? {};
  const own = Object.entries(properties).filter(([member]) => !(member in inherited));
  const rows = own.map(([member, schema]) => [
    required.includes(member) && isSent(name) ? `**\`${member}\`**` : `\`${member}\``,
    typeText(schema),
    schema.description ?? "",
  ]);
  const also = base === undefined ? "" : `All members of ${link(base)}, and:\n\n`;
  return `### ${name}\n\n${description}\n\n${also}${table(["Member", "Type", "Meaning"], rows)}\n`;
}

function isSent(name: string): boolean {
  return /(?:Input|Request)$/.test(name);
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** How a schema reads in a cell; that a member may be null or empty goes without saying. */
function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return link(schema.$ref.split("/").at(-1) ?? "");
  if (schema.anyOf !== undefined) {
    const said = schema.anyOf.filter(({ type, const: value }) => type !== "null" && value !== "");
    return said.map(typeText).join(" or ");
  }
  if (schema.enum !== undefined) return schema.enum.map((word) => `\`${String(word)}\``).join(", ");
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}`;
  if (schema.properties !== undefined) {
    return `{ ${Object.entries(schema.properties)
      .map(([name, member]) => `${name}: ${typeText(member)}`)
      .join("; ")} }`;
  }
  if (typeof schema.additionalProperties === "object") return `map to ${typeText(schema.additionalProperties)}`;
  return scalarText(schema);
}

function scalarText({ type, minimum, maximum }: Schema): string {
  const types = (typeof type === "string" ? [type] : (type ?? [])).filter((each) => each !== "null");
  // Where text is meant, numbers and switches that YAML made of it are taken too.
  const name = types.length === 0 ? "anything" : types.includes("string") ? "string" : String(types[0]);
  if (minimum === undefined) return name;
  const wide = maximum === undefined || maximum >= 2 ** 31;
  return wide ? `${name} ≥ ${minimum}` : `${name} ${minimum}…${maximum}`;
}
