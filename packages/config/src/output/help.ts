import type { ConfigSchema } from "../schema/define-config.ts";
import { describeSchema, type Description } from "./describe-schema.ts";

/** Returns the text of `--help`: each variable with type, defaults and meaning. */
export function configHelp(schema: ConfigSchema<unknown>): string {
  const groups = describeSchema(schema).map(({ title, variables }) => {
    const heading = title === "" ? "" : `${title}\n\n`;
    return heading + variables.map(variableHelp).join("\n");
  });
  return [
    `${schema.title}\n`,
    "Settings are environment variables. A flag of the same name overrides a variable: HTTP_PORT=80 or --http-port=80.",
    "An empty value counts as not set. --print-config prints the effective values and their sources.\n",
    [...groups, ...removedHelp(schema)].join("\n"),
  ].join("\n");
}

function removedHelp({ removedSettings }: ConfigSchema<unknown>): string[] {
  if (removedSettings.size === 0) return [];
  const lines = [...removedSettings].map(([name, reason]) => `  ${name}\n      ${reason}\n`);
  return [`Removed\n\n${lines.join("")}`];
}

function variableHelp(variable: Description): string {
  const notes = [
    variable.doc,
    ...(variable.aliases.length > 0 ? [`Aliases: ${variable.aliases.join(", ")}.`] : []),
    ...(variable.secret ? ["Secret."] : []),
    ...(variable.fromFile ? [`${variable.name}_FILE can name a file with the value.`] : []),
    ...(variable.example === undefined ? [] : [`Example: ${variable.example}`]),
  ];
  const title = `  ${variable.name}  <${variable.type}>  default: ${variable.defaults}`;
  return `${title.replace("default: required", "required").replace("default: none", "optional")}\n${notes
    .map((note) => `      ${note}\n`)
    .join("")}`;
}
