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
    "An empty value counts as not set. --print-config prints the effective values and their sources.",
    ...fileHelp(schema),
    "",
    [...groups, ...removedHelp(schema)].join("\n"),
  ].join("\n");
}

function fileHelp({ configFile }: ConfigSchema<unknown>): string[] {
  if (configFile === undefined) return [];
  return [
    `--config FILE, or ${configFile}, names a YAML file with settings; flags and environment variables override it.`,
    "The program reads the file again when it changes. `config validate FILE` checks it and starts nothing.",
  ];
}

/** Returns the text of `config validate --help`. */
export function configValidateHelp({ title, configFile }: ConfigSchema<unknown>): string {
  if (configFile === undefined) return `${title} reads no configuration file.\n`;
  return [
    `Usage: config validate [FILE] [--NAME=VALUE ...]`,
    "",
    `Checks a configuration file of the ${title} together with the environment and the flags that it would run`,
    "with, including the files that contain secrets. Prints every problem with file, line and column. Starts nothing.",
    "",
    `  FILE      YAML file with settings; by default the file that ${configFile} names`,
    "  --help    prints this text",
    "",
    "Exit codes: 0 the configuration is valid, 1 it is not valid, 2 the command line is wrong.",
    "",
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
    ...(variable.fileKey === undefined ? [] : [`In the file: ${variable.fileKey}.`]),
    ...(variable.reloads ? ["Reloaded when the file changes."] : []),
    ...(variable.secret ? ["Secret."] : []),
    ...(variable.fromFile ? [`${variable.name}_FILE can name a file with the value.`] : []),
    ...(variable.example === undefined ? [] : [`Example: ${variable.example}`]),
  ];
  const title = `  ${variable.name}  <${variable.type}>  default: ${variable.defaults}`;
  return `${title.replace("default: required", "required").replace("default: none", "optional")}\n${notes
    .map((note) => `      ${note}\n`)
    .join("")}`;
}
