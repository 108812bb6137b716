/**
 * Typed configuration from environment variables, each declared once.
 *
 * Reading order: variable (how one is declared), family (variables with a name inside their name), define (a whole
 * schema), parse (text to values, all mistakes at once), report (effective values and origins), help and reference
 * (what operators read), standard (groups that every service shares). Pure: the environment, the flags and the way to
 * read a file are parameters; only `main.ts` has them.
 */
export { env, type Variable, type VariableSpec } from "./schema/variable.ts";
export { nameInVariable, perName, type Family } from "./schema/family.ts";
export { defineConfig, type ConfigOf, type ConfigSchema, type SchemaOptions, type Shape } from "./schema/define-config.ts";
export {
  configFault,
  loadConfig,
  parseConfig,
  unusedSettings,
  type ConfigSources,
  type UnusedSetting,
} from "./parsing/parse-config.ts";
export { readCommandLine, type CommandLine } from "./parsing/flags.ts";
export { configReport, configReportText, type ReportEntry } from "./output/report.ts";
export { originText, type Origin } from "./parsing/origin.ts";
export { configHelp } from "./output/help.ts";
export { configReference } from "./output/reference.ts";
export { logLevelKind, loggingVariables, TRACING_VARIABLES, type LogLevelSetting } from "./schema/standard-variables.ts";
export { wrong, type Kind } from "./kinds/kind.ts";
export { intKind, urlKind } from "./kinds/scalar-kinds.ts";
export { maskText } from "./output/mask.ts";
