import type { ConfigSchema } from "../schema/define-config.ts";
import { describeSchema, type Description } from "./describe-schema.ts";

/** Returns the reference page of the settings of several programs, in Markdown. */
export function configReference(schemas: readonly ConfigSchema<unknown>[]): string {
  const sections = schemas.map((schema) => {
    const hasFile = schema.configFile !== undefined;
    const groups = describeSchema(schema).map(({ title, variables }) =>
      [
        ...(title === "" ? [] : [`### ${title}`, ""]),
        ...(hasFile ? ["| Variable | File key | Type | Default | Meaning |", "|---|---|---|---|---|"] : []),
        ...(hasFile ? [] : ["| Variable | Type | Default | Meaning |", "|---|---|---|---|"]),
        ...variables.map((variable) => row(variable, hasFile)),
        "",
      ].join("\n"),
    );
    const unknown = schema.prefixes.map((prefix) => code(`${prefix}*`)).join(", ");
    const guard = unknown === "" ? [] : [`A variable ${unknown} that is not listed here is an error.`, ""];
    return [`## ${schema.title}`, "", ...guard, ...fileSection(schema), ...groups, ...removedSection(schema)].join(
      "\n",
    );
  });
  return [
    "# Configuration",
    "",
    "Generated from the schemas in the code. Settings are environment variables; a flag of the same name overrides a",
    "variable (`--http-port=80` or `--http-port 80` for `HTTP_PORT`). An empty value counts as not set. `--print-config` prints the effective",
    "values and their sources.",
    "",
    "The managers also read a [configuration file](../guides/configuration-files.md) in YAML, with the keys of the column",
    "_File key_; flags and variables override it. A change of a setting marked _reloaded_ takes effect within seconds.",
    "",
    ...sections,
  ].join("\n");
}

function fileSection({ configFile }: ConfigSchema<unknown>): string[] {
  if (configFile === undefined) return [];
  return [`${code("--config FILE")} or ${code(configFile)} names the configuration file.`, ""];
}

function removedSection({ removedSettings }: ConfigSchema<unknown>): string[] {
  if (removedSettings.size === 0) return [];
  return [
    "### Removed",
    "",
    "Setting one of these has no effect. The service logs a warning at start and runs.",
    "",
    "| Variable | Why |",
    "|---|---|",
    ...[...removedSettings].map(([name, reason]) => `| ${code(name)} | ${escape(reason)} |`),
    "",
  ];
}

function row(variable: Description, hasFile: boolean): string {
  const names = [variable.name, ...variable.aliases].map(code).join("<br>also ");
  const meaning = [
    variable.doc,
    ...(variable.reloads ? ["_Reloaded._"] : []),
    ...(variable.secret ? ["Secret."] : []),
    ...(variable.fromFile ? [`${code(`${variable.name}_FILE`)} can name a file with the value.`] : []),
    ...(variable.example === undefined ? [] : [`Example: ${code(variable.example)}`]),
  ].join(" ");
  const fileKey = hasFile ? [variable.fileKey === undefined ? "–" : code(variable.fileKey)] : [];
  return `| ${[names, ...fileKey, escape(variable.type), escape(variable.defaults), escape(meaning)].join(" | ")} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}

/** Escapes bars, which would end the cell, and `<`, which would start an HTML tag. */
function escape(text: string): string {
  return text
    .replaceAll("|", String.raw`\|`)
    .replaceAll(/\s+/g, (space) => (space.includes("\n") ? " " : space))
    .replaceAll(/(`[^`]*`)|</g, (whole, quoted: string | undefined) => (quoted === undefined ? "&lt;" : whole));
}
