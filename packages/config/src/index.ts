/**
 * Typed configuration from flags, environment variables and a file, each setting declared once.
 *
 * Reading order: schema (declarations), kinds (types of values), file (configuration file to texts), parsing (text to
 * values, all violations at once), output (help, report of effective values, reference page). Pure: the environment, the flags and the function that
 * reads a file are parameters.
 */
export { env, type Variable, type VariableSpec } from "./schema/variable.ts";
export { nameInVariable, perName, type Family } from "./schema/family.ts";
export {
  defineConfig,
  type ConfigOf,
  type ConfigSchema,
  type SchemaOptions,
  type Shape,
} from "./schema/define-config.ts";
export { CONFIG_FILE_LIMITS, type ConfigFile, type ConfigViolation, type FilePlace } from "./file/read-config-file.ts";
export { changedSettings, type ChangedSettings } from "./parsing/changed-settings.ts";
export {
  configFault,
  configFilePath,
  loadConfig,
  parseConfig,
  unusedSettings,
  type ConfigSources,
  type UnusedSetting,
} from "./parsing/parse-config.ts";
export { readCommandLine, type CommandLine } from "./parsing/flags.ts";
export { configReport, configReportText, type ReportEntry } from "./output/report.ts";
export { originText, type Origin } from "./parsing/origin.ts";
export { configHelp, configValidateHelp } from "./output/help.ts";
export { configReference } from "./output/reference.ts";
export { logLevelKind, loggingVariables, tracingVariables, type LogLevelSetting } from "./schema/standard-variables.ts";
export { invalid, type Kind } from "./kinds/kind.ts";
export {
  clientNamesKind,
  reporterNamesKind,
  type ClientNameSetting,
  type ReporterSetting,
} from "./kinds/client-names.ts";
export { intKind, urlKind } from "./kinds/scalar-kinds.ts";
export { maskText } from "./output/mask.ts";
