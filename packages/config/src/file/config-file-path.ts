import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { ConfigSchema } from "../schema/define-config.ts";

/** The flag --config as a variable. */
export const CONFIG_FLAG = "CONFIG";

/** Names under which a configuration file may be given: the flag and the variable. */
export function configFileNames({ configFile }: Pick<ConfigSchema<unknown>, "configFile">): readonly string[] {
  return configFile === undefined ? [] : [CONFIG_FLAG, configFile];
}

/** The configuration file that flags or environment name. An empty flag overrides the variable. */
export function findConfigFile(
  schema: Pick<ConfigSchema<unknown>, "configFile">,
  env: Readonly<Record<string, string | undefined>>,
  flags: ReadonlyMap<string, string | undefined>,
): { readonly path: string | undefined; readonly violations: readonly Violation[] } {
  if (schema.configFile === undefined) return { path: undefined, violations: [] };
  const flag = configFileNames(schema).find((name) => flags.has(name));
  const path = flag === undefined ? env[schema.configFile] : flags.get(flag);
  if (flag !== undefined && path === undefined) {
    const violation = { path: pathOf(ROOT_PATH, "--config"), message: "has no value", fix: "use --config FILE" };
    return { path: undefined, violations: [violation] };
  }
  return { path: path === "" ? undefined : path, violations: [] };
}
