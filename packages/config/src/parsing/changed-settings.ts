import type { ConfigSchema } from "../schema/define-config.ts";
import { resolve, type ConfigSources } from "./parse-config.ts";

/** Names of settings that differ between two configurations. */
export interface ChangedSettings {
  /** Take effect while the program runs. */
  readonly reloaded: readonly string[];
  /** Take effect after a restart. */
  readonly restart: readonly string[];
}

/** Compares two valid configurations. */
export function changedSettings(
  schema: ConfigSchema<unknown>,
  before: ConfigSources,
  after: ConfigSources,
): ChangedSettings {
  const texts = (sources: ConfigSources): Map<string, { readonly text: string; readonly reloads: boolean }> => {
    const { values, familyValues } = resolve(schema, sources);
    return new Map(
      [...values, ...familyValues].map(({ at: { spec, value } }) => [
        spec.name,
        { text: value === undefined ? "" : `=${spec.kind.show(value as never)}`, reloads: spec.reloads },
      ]),
    );
  };
  const [one, other] = [texts(before), texts(after)];
  const changed = [...other].filter(([name, { text }]) => one.get(name)?.text !== text);
  return {
    reloaded: changed.filter(([, { reloads }]) => reloads).map(([name]) => name),
    restart: changed.filter(([, { reloads }]) => !reloads).map(([name]) => name),
  };
}
