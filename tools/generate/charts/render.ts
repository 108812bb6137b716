import { MIN_KUBERNETES_VERSION } from "@oaas/contracts/crd";
import { stringify } from "yaml";
import { table } from "../reference/markdown.ts";
import { isGroup, type Chart, type Value, type ValueGroup, type Values } from "./model.ts";

const NOTE = "Generated from tools/generate/charts by `npm run generate`. Do not edit.";

/** The generated files of a chart, by path in the chart. */
export function renderChart(chart: Chart, version: string): Record<string, string> {
  return {
    "Chart.yaml": chartYaml(chart, version),
    "values.yaml": `# ${NOTE}\n${valuesYaml(chart.values, 0)}`,
    "values.schema.json": `${JSON.stringify(valuesSchema(chart), undefined, 2)}\n`,
    "README.md": readme(chart),
    ".helmignore": "README.md.gotmpl\n*.orig\n",
    ...chart.files,
  };
}

function chartYaml(chart: Chart, version: string): string {
  const images = chart.images.map((image) => ({
    name: image.split("/").at(-1),
    image: `${image}:${version}`,
    platforms: ["linux/amd64", "linux/arm64"],
  }));
  const annotations = {
    "artifacthub.io/category": "integration-delivery",
    "artifacthub.io/license": "Apache-2.0",
    "artifacthub.io/operator": "true",
    "artifacthub.io/containsSecurityUpdates": "false",
    "artifacthub.io/prerelease": String(version.startsWith("0.")),
    ...(images.length === 0 ? {} : { "artifacthub.io/images": stringify(images) }),
  };
  const document = {
    apiVersion: "v2",
    name: chart.name,
    description: chart.description,
    type: "application",
    version,
    appVersion: version,
    kubeVersion: `>=${MIN_KUBERNETES_VERSION}.0-0`,
    keywords: ["oaas", ...chart.keywords],
    annotations,
    ...(chart.dependencies === undefined
      ? {}
      : {
          dependencies: chart.dependencies.map(({ name, alias, condition }) => ({
            name,
            version,
            repository: `file://../${name}`,
            ...(alias === undefined ? {} : { alias }),
            condition,
          })),
        }),
  };
  return `# ${NOTE}\n${stringify(document, { lineWidth: 0 })}`;
}

function valuesYaml(values: Values, depth: number): string {
  const indent = "  ".repeat(depth);
  return Object.entries(values)
    .map(([key, value]) => {
      const comment = `${indent}# ${value.doc.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "")}\n`;
      if (isGroup(value)) return `${comment}${indent}${key}:\n${valuesYaml(value.values, depth + 1)}`;
      return comment + stringify({ [key]: value.default }, { lineWidth: 0 }).replaceAll(/^(?=.)/gm, indent);
    })
    .join(depth === 0 ? "\n" : "");
}

function valuesSchema(chart: Chart): object {
  const { properties } = groupSchema(chart.values);
  // Values of a dependency are checked by its own schema.
  const open = new Set((chart.dependencies ?? []).map(({ alias, name }) => alias ?? name));
  const own = Object.entries(properties).map(([key, schema]) =>
    open.has(key) ? [key, opened(schema)] : [key, schema],
  );
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `Values of the chart ${chart.name}`,
    type: "object",
    additionalProperties: false,
    properties: {
      global: { type: "object", description: "Values of a parent chart; not used." },
      enabled: { type: "boolean", description: "Whether a parent chart installs this chart." },
      ...Object.fromEntries(own),
    },
  };
}

/** Allows further properties at every level. */
function opened<T extends object>(schema: T): T {
  const entries = Object.entries(schema).map(([key, value]) => {
    if (key === "additionalProperties") return [key, true];
    return [key, isObject(value) ? opened(value) : value];
  });
  return Object.fromEntries(entries) as T;
}

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface GroupSchema {
  readonly type: "object";
  readonly additionalProperties: boolean;
  readonly properties: Readonly<Record<string, object>>;
}

function groupSchema(values: Values): GroupSchema {
  const properties = Object.entries(values).map(([key, value]) => [
    key,
    { description: value.doc, ...(isGroup(value) ? groupSchema(value.values) : value.schema) },
  ]);
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}

function readme(chart: Chart): string {
  const rows = flatten(chart.values, []).map(({ name, value }) => [`\`${name}\``, shownDefault(value), value.doc]);
  return [
    `# ${chart.name}`,
    "",
    `${chart.description}.`,
    "",
    chart.readme,
    "",
    "## Values",
    "",
    table(["Value", "Default", "Meaning"], rows),
    "",
    `<!-- ${NOTE} -->`,
    "",
  ].join("\n");
}

function shownDefault(value: Value): string {
  const text = JSON.stringify(value.default);
  return text === '""' || text === "{}" || text === "[]" ? "none" : `\`${text.replaceAll('"', "")}\``;
}

function flatten(values: Values, path: readonly string[]): readonly { readonly name: string; readonly value: Value }[] {
  return Object.entries<Value | ValueGroup>(values).flatMap(([key, value]) =>
    isGroup(value) ? flatten(value.values, [...path, key]) : [{ name: [...path, key].join("."), value }],
  );
}
