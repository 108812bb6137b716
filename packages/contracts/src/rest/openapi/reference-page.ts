import type { OpenApiDocument } from "./document.ts";

/** The parts of a schema that the page shows. */
interface Schema {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

interface Content {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
  readonly required?: boolean;
  readonly description?: string;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
}

/** The OpenAPI document as an HTML page. It has no scripts and loads nothing from other hosts. */
export function referencePage(openApi: OpenApiDocument): string {
  const document = openApi as unknown as Document;
  const { info, tags, components } = document;
  const title = escape(`${info.title} ${info.version}`);
  const sections = [
    ...tags.map((tag) => ({ id: tag.name, intro: tag.description, parts: operationsOf(tag.name, document) })),
    {
      id: "documents",
      intro: "Bodies of requests and responses. Bold members are required.",
      parts: Object.entries(components.schemas).map(([name, schema]) => schemaHtml(name, schema)),
    },
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>
  :root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
  body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem }
  details { border-bottom: 1px solid #8884; padding: .3rem 0 }
  summary { cursor: pointer }
  code { background: #8882; padding: .1rem .3rem; border-radius: .2rem }
  .method { display: inline-block; min-width: 4.5rem; font-weight: 600 }
  table { border-collapse: collapse; margin: .4rem 0 } td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top }
</style>
</head>
<body>
<h1>${title}</h1>
<p>Everything here is also in <a href="/openapi.json">/openapi.json</a> (OpenAPI 3.1).</p>
<nav>${sections.map(({ id }) => `<a href="#${escape(id)}">${escape(id)}</a>`).join(" · ")}</nav>
${sections.map(({ id, intro, parts }) => `<section id="${escape(id)}"><h2>${escape(id)}</h2><p>${words(intro)}</p>${parts.join("\n")}</section>`).join("\n")}
</body>
</html>
`;
}

function operationsOf(tag: string, { paths, components }: Document): string[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, operation]) => operation.tags?.[0] === tag)
      .map(([method, operation]) => operationHtml(`${method} ${path}`, operation, components)),
  );
}

function operationHtml(request: string, operation: Operation, components: Document["components"]): string {
  const [method = "", path = ""] = request.split(" ");
  const parameters = (operation.parameters ?? [])
    .map((parameter) => named(parameter, components.parameters))
    .map(({ name = "", in: place = "", required, description }) => [
      `<code>${escape(name)}</code>`,
      escape(required ? `${place}, required` : place),
      words(description),
    ]);
  const body = operation.requestBody;
  // Responses with the same body share one row.
  const answers = new Map<string, string[]>();
  for (const [status, response] of Object.entries(operation.responses)) {
    const { description, content } = named(response, components.responses);
    const cells = `<td>${words(description)}</td><td>${contentHtml(content)}</td>`;
    answers.set(cells, [...(answers.get(cells) ?? []), escape(status)]);
  }
  const answerRows = [...answers].map(([cells, statuses]) => `<tr><td>${statuses.join(" ")}</td>${cells}</tr>`);
  return `<details id="${escape(operation.operationId)}"><summary><span class="method">${escape(method.toUpperCase())}</span> <code>${escape(path)}</code> ${words(operation.summary)}</summary>
<p>${words(operation.description)}</p>
${table(parameters)}
${body === undefined ? "" : `<p>Body: ${contentHtml(body.content)}. ${words(body.description)}</p>`}
<table><tbody>${answerRows.join("")}</tbody></table></details>`;
}

function schemaHtml(name: string, schema: Schema): string {
  const members = Object.entries(schema.properties ?? {}).map(([member, what]) => {
    const label = `<code>${escape(member)}</code>`;
    return [schema.required?.includes(member) ? `<b>${label}</b>` : label, typeHtml(what), words(what.description)];
  });
  return `<details id="schema-${escape(name)}"><summary><code>${escape(name)}</code> ${words(schema.description)}</summary>
${members.length === 0 ? `<p>${typeHtml(schema)}</p>` : table(members)}</details>`;
}

/** The types of a body; media types with the same schema count once. */
function contentHtml(content: Content["content"] = {}): string {
  const types = Object.values(content).map(({ schema }) => (schema === undefined ? "" : typeHtml(schema)));
  return [...new Set(types)].join(" or ");
}

function typeHtml(schema: Schema): string {
  const { $ref, anyOf, items, additionalProperties, type } = schema;
  if ($ref !== undefined) {
    const name = escape(nameIn($ref));
    return `<a href="#schema-${name}">${name}</a>`;
  }
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeHtml))].join(" or ");
  if (schema.enum !== undefined) return schema.enum.map((value) => `<code>${escape(String(value))}</code>`).join(" ");
  if (items !== undefined) return `list of ${typeHtml(items)}`;
  if (typeof additionalProperties === "object") return `map to ${typeHtml(additionalProperties)}`;
  return escape([type ?? "anything"].flat().join(" or "));
}

function named<T extends { readonly $ref?: string }>(thing: T, known: Readonly<Record<string, T>>): T {
  return thing.$ref === undefined ? thing : (known[nameIn(thing.$ref)] ?? thing);
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

function table(rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  return `<table><tbody>${rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</tbody></table>`;
}

/** Text whose backticks mark code. */
function words(text = ""): string {
  return escape(text).replaceAll(/`([^`]*)`/g, "<code>$1</code>");
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
