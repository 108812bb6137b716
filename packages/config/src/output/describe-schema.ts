import { fileKeyForFile, fileKeyOf } from "../file/file-keys.ts";
import { memberVariable } from "../schema/family.ts";
import type { ConfigSchema, Placed } from "../schema/define-config.ts";
import { MASK, maskText } from "./mask.ts";
import type { VariableSpec } from "../schema/variable.ts";

/** Description of a variable for help and the reference page. */
export interface Description {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly type: string;
  /** "8088", "false (edge, full: true)", "required" or "none". */
  readonly defaults: string;
  readonly doc: string;
  readonly example: string | undefined;
  readonly secret: boolean;
  readonly fromFile: boolean;
  /** Key in the configuration file; undefined if the file cannot set it. */
  readonly fileKey: string | undefined;
  /** Whether a change of the configuration file takes effect without a restart. */
  readonly reloads: boolean;
}

/** Variables of one group of the schema; the top-level group has no title. */
export interface DescribedGroup {
  readonly title: string;
  readonly variables: readonly Description[];
}

/** Describes a schema group by group, in the order of declaration. */
export function describeSchema(schema: ConfigSchema<unknown>): readonly DescribedGroup[] {
  const groups = new Map<string, Description[]>();
  const add = (path: readonly string[], spec: VariableSpec, fileKey?: string): void => {
    const title = path.length > 1 ? titleOf(path.slice(0, -1)) : "";
    const description = describeVariable(spec, fileKey);
    const group = groups.get(title);
    if (group === undefined) groups.set(title, [description]);
    else group.push(description);
  };
  for (const variable of schema.variables) add(variable.path, variable.at, fileKeyText(schema, variable));
  for (const { path, at } of schema.families) {
    for (const member of at.members.values()) add([...path, ""], memberVariable(at, member));
  }
  return [...groups].map(([title, variables]) => ({ title, variables }));
}

/** The key of a secret is that of the file which contains it. */
function fileKeyText(schema: ConfigSchema<unknown>, variable: Placed<VariableSpec>): string | undefined {
  const path = schema.configFile === undefined ? undefined : fileKeyOf(variable);
  const { secret, secretMembers, fromFile } = variable.at;
  if (path === undefined || !secret || secretMembers.length > 0) return path?.join(".");
  return fromFile ? fileKeyForFile(path).join(".") : undefined;
}

function describeVariable(spec: VariableSpec, fileKey: string | undefined): Description {
  return {
    name: spec.name,
    aliases: spec.aliases,
    type: spec.kind.label,
    defaults: defaultsOf(spec),
    doc: spec.doc,
    example: spec.example,
    secret: spec.secret,
    fromFile: spec.fromFile,
    fileKey,
    reloads: fileKey !== undefined && spec.reloads,
  };
}

function defaultsOf(spec: VariableSpec): string {
  const text = (value: unknown): string => (spec.secret ? MASK : maskText(spec.kind.show(value)) || '""');
  const plain = spec.defaultValue === undefined ? (spec.required ? "required" : "none") : text(spec.defaultValue);
  const profilesByText = new Map<string, string[]>();
  for (const [profile, value] of spec.profileDefaults) {
    const formatted = text(value);
    profilesByText.set(formatted, [...(profilesByText.get(formatted) ?? []), profile]);
  }
  const different = [...profilesByText].filter(([formatted]) => formatted !== plain);
  if (different.length === 0) return plain;
  return `${plain} (${different.map(([formatted, profiles]) => `${profiles.join(", ")}: ${formatted}`).join("; ")})`;
}

/** ["prometheus", "queryLimits"] is "Prometheus, query limits". */
function titleOf(path: readonly string[]): string {
  const words = path.map((key) => key.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)).join(", ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
