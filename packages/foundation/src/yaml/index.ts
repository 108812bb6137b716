/** YAML from files and requests, parsed within limits. Product code calls the parser nowhere else. */
export {
  parseYaml,
  parseYamlValue,
  yamlValue,
  type ParsedYaml,
  type YamlDocument,
  type YamlOptions,
  type YamlProblem,
  type YamlValue,
} from "./parse-yaml.ts";
export { yamlPosition, yamlSource, type YamlPosition } from "./yaml-position.ts";
export { YAML_FILE_LIMITS, YAML_REQUEST_LIMITS, type YamlLimits } from "./yaml-limits.ts";
