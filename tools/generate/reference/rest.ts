import { openApiDocument } from "../../../packages/contracts/src/rest/openapi/document.ts";
import type { Generator } from "../generator.ts";
import { sentence, table } from "./markdown.ts";

/** The reference page of the package manager's REST API, from the document served at `/openapi.json`. */
export const generator: Generator = {
  name: "rest-reference",
  produce: async () => new Map([["docs/reference/rest.md", restReference(document())]]),
};

/** The JSON Schema keywords that the contract uses. */
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

/** Documents that extend another one: only the additional fields are listed. */
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
        ["Request", "Role", "Description", "Query", "Body", "Response"],
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
    "## Request documents\n",
    "JSON or YAML; `null` means absent. **Bold** fields are required. Unknown fields are rejected, except those described as ignored.\n",
    ...names.filter(isSent).map((name) => documentSection(name, schemas)),
    "## Response documents\n",
    "Optional fields may be absent or `null`. Clients must ignore unknown fields, which later releases may add.\n",
    ...names.filter((name) => !isSent(name)).map((name) => documentSection(name, schemas)),
  ].join("\n");
}

const INTRODUCTION = `# REST

<!-- Generated from packages/contracts/src/rest by \`npm run generate\`. Do not edit. -->

The package manager's API, at \`SERVER_PORT\`. A running package manager serves it as OpenAPI 3.1 at \`/openapi.json\` and as an
HTML page at \`/docs\`.

- **Authentication.** \`authorization: Bearer <token>\`. Roles: *viewer* reads, *deployer* also changes packages and
  deployments, *admin* also clusters; *public* requires no authentication.
- **Errors** are \`application/problem+json\`; [errors](errors.md) lists codes and statuses.
- **Lists** take \`limit\` with \`offset\` or \`page_token\`, and return \`x-total-count\` and
  \`x-next-page-token\`; \`x-missing-clusters\` lists unreachable clusters.
- **Concurrent changes.** Reads of one resource return an \`ETag\`; a write with \`if-match\` fails with 412 when the resource
  has changed.
- **Idempotency.** A POST or PUT with an \`idempotency-key\` is executed once, however often it is sent, even if the process
  that received it crashed; keys are kept for one day. While the first request is in progress, repeated requests get 409,
  \`OAAS_REQUEST_RUNNING\` and \`retry-after\`.
- **Unknown fields** and query parameters of a write are rejected with 400, each with its path and the nearest name.
  \`?field_validation=warn\` accepts them and returns a \`Warning\` header, \`?field_validation=ignore\` drops them. Fields
  that are described as ignored are accepted for clients in use and for responses that are sent back. Reads ignore unknown
  query parameters.
- **Streams** are server-sent events ([events](events.md)).
`;

function operationRow(operation: Operation & { readonly path: string; readonly method: string }): string[] {
  const { method, path, summary, parameters, requestBody, responses } = operation;
  const query = parameters.flatMap(({ in: place, name }) => (place === "query" ? [`\`${name}\``] : []));
  const answers = Object.entries(responses).flatMap(([status, answer]) =>
    status.startsWith("2") ? [`${status} ${contentText(answer)}`.trim()] : [],
  );
  const alias = operation["x-alias-of"] === undefined ? "" : " (alias)";
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
  const also = base === undefined ? "" : `All fields of ${link(base)}, and:\n\n`;
  return `### ${name}\n\n${description}\n\n${also}${table(["Field", "Type", "Meaning"], rows)}\n`;
}

function isSent(name: string): boolean {
  return /(?:Input|Request)$/.test(name);
}

function link(name: string): string {
  return `[${name}](#${name.toLowerCase()})`;
}

/** A schema as the text of a table cell; null and empty alternatives are left out. */
function typeText(schema: Schema): string {
  if (schema.$ref !== undefined) return link(schema.$ref.split("/").at(-1) ?? "");
  if (schema.anyOf !== undefined) {
    const stated = schema.anyOf.filter(({ type, const: value }) => type !== "null" && value !== "");
    return stated.map(typeText).join(" or ");
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
  // Strings are also accepted as the numbers and booleans that YAML makes of them.
  const name = types.length === 0 ? "anything" : types.includes("string") ? "string" : String(types[0]);
  if (minimum === undefined) return name;
  const wide = maximum === undefined || maximum >= 2 ** 31;
  return wide ? `${name} ≥ ${minimum}` : `${name} ${minimum}…${maximum}`;
}
