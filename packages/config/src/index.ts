/**
 * Typed configuration from environment variables, each declared once.
 *
 * Reading order: variable (how one is declared), family (variables with a name inside their name), define (a whole
 * schema), parse (text to values, all mistakes at once), report (effective values and origins), help and reference
 * (what operators read), standard (groups that every service shares). Pure: the environment, the flags and the way to
 * read a file are parameters; only `main.ts` has them.
 */
export { env, type Variable, type VariableSpec } from "./variable.ts";
export { nameInVariable, perName, type Family } from "./family.ts";
export { defineConfig, type ConfigOf, type ConfigSchema, type SchemaOptions, type Shape } from "./define.ts";
export {
  configFault,
  loadConfig,
  parseConfig,
  unusedSettings,
  type ConfigSources,
  type UnusedSetting,
} from "./parse.ts";
export { readCommandLine, type CommandLine } from "./flags.ts";
export { configReport, configReportText, type ReportEntry } from "./report.ts";
export { originText, type Origin } from "./origin.ts";
export { configHelp } from "./help.ts";
export { configReference } from "./reference.ts";
export { logLevelKind, loggingVariables, TRACING_VARIABLES, type LogLevelSetting } from "./standard.ts";
export { wrong, type Kind } from "./kind.ts";
export { intKind, urlKind } from "./scalar-kinds.ts";
export { maskText } from "./mask.ts";
