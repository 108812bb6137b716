import { fileVariable } from "../schema/family.ts";
import type { ConfigSchema, Placed } from "../schema/define-config.ts";
import type { VariableSpec } from "../schema/variable.ts";

/** A key of the configuration file and the variable it sets. */
export interface FileKey {
  readonly path: readonly string[];
  readonly spec: VariableSpec;
  /** Whether the value is the name of a file with the value, as in `<NAME>_FILE`. */
  readonly namesFile: boolean;
}

/** Path of a variable in the configuration file; undefined if the file cannot set it. */
export function fileKeyOf({ path, at }: Placed<VariableSpec>): readonly string[] | undefined {
  if (at.fileKey === false) return undefined;
  const last = path.at(-1) ?? "";
  const isDuration = at.kind.label.startsWith("duration");
  return [...path.slice(0, -1), at.fileKey ?? (isDuration ? last.replace(/Ms$/, "") : last)];
}

/** Key of the file that contains a value: `token` is `tokenFile`. */
export function fileKeyForFile(path: readonly string[]): readonly string[] {
  return [...path.slice(0, -1), `${path.at(-1) ?? ""}File`];
}

/** All keys of the configuration file. Throws a TypeError if two variables have the same key. */
export function fileKeys(schema: Pick<ConfigSchema<unknown>, "variables">): readonly FileKey[] {
  const keys = schema.variables.flatMap((placed): FileKey[] => {
    const path = fileKeyOf(placed);
    if (path === undefined) return [];
    const own = { path, spec: placed.at, namesFile: false };
    return placed.at.fromFile ? [own, { ...own, path: fileKeyForFile(path), namesFile: true }] : [own];
  });
  const known = new Map<string, string>();
  for (const { path, spec } of keys) {
    const text = path.join(".");
    const other = known.get(text);
    if (other !== undefined) throw new TypeError(`${spec.name} has the same key ${text} in the file as ${other}`);
    known.set(text, spec.name);
  }
  return keys;
}

/** Name of the variable that a key sets, including `<NAME>_FILE`. */
export function variableOfKey({ spec, namesFile }: FileKey): string {
  return namesFile ? fileVariable(spec.name) : spec.name;
}
