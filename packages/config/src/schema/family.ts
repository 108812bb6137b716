import { renamed, type Variable, type VariableSpec } from "./variable.ts";

declare const valueType: unique symbol;

/** Variables that exist once per NAME, which is part of the variable name. */
export interface Family<V> {
  readonly [valueType]?: V;
  readonly declares: "family";
  /** For example `CRM_CLUSTER_<NAME>_`. */
  readonly pattern: string;
  readonly members: ReadonlyMap<string, VariableSpec>;
}

type Members = Readonly<Record<string, Variable<unknown, unknown, never>>>;

type MemberValues<M extends Members> = {
  readonly [K in keyof M]: M[K] extends Variable<infer V, infer _T, infer _D> ? V : never;
};

const PLACEHOLDER = "<NAME>";

/**
 * Declares a family such as `CRM_CLUSTER_<NAME>_URL`: `perName("CRM_CLUSTER_<NAME>_", { url: env("URL").url() })`.
 *
 * The configuration has a record from each NAME to the values of its members. A variable that is declared with its full
 * name does not belong to a family.
 */
export function perName<const M extends Members>(pattern: string, members: M): Family<MemberValues<M>> {
  if (pattern.split(PLACEHOLDER).length !== 2) throw new TypeError(`${pattern} must contain ${PLACEHOLDER} once`);
  return {
    declares: "family",
    pattern,
    members: new Map(Object.entries(members).map(([key, member]) => [key, member.spec])),
  };
}

/** Converts a name to the NAME in variables: "eu-west.1" is EU_WEST_1. */
export function nameInVariable(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

/** Returns the variable of a member for one NAME, or for the placeholder in documentation. */
export function memberVariable(
  family: Family<unknown>,
  member: VariableSpec,
  name: string = PLACEHOLDER,
): VariableSpec {
  return renamed(member, (suffix) => family.pattern.replace(PLACEHOLDER, () => name) + suffix);
}

/** Returns the NAME in a variable name of this family. If several member suffixes match, the longest wins. */
export function nameOf(family: Family<unknown>, variable: string): string | undefined {
  const names = [...family.members.values()].flatMap((member) => memberNames(family, member, variable));
  return names.toSorted((a, b) => a.length - b.length)[0];
}

/** Whether a variable is this member of the family under some NAME. */
export function isNameOfMember(family: Family<unknown>, member: VariableSpec, variable: string): boolean {
  const name = nameOf(family, variable);
  return name !== undefined && memberNames(family, member, variable).includes(name);
}

/** The NAMEs under which a variable is this member; several if the member has aliases. */
function memberNames(family: Family<unknown>, member: VariableSpec, variable: string): readonly string[] {
  const [before = "", after = ""] = family.pattern.split(PLACEHOLDER);
  if (!variable.startsWith(before)) return [];
  return spellings(member)
    .filter((suffix) => variable.endsWith(after + suffix))
    .map((suffix) => variable.slice(before.length, variable.length - after.length - suffix.length))
    .filter((name) => /^[A-Z0-9_]+$/.test(name));
}

/** Returns all names of a variable, including aliases and file variables. */
export function spellings(spec: VariableSpec): readonly string[] {
  const names = [spec.name, ...spec.aliases];
  return spec.fromFile ? [...names, ...names.map(fileVariable)] : names;
}

/** Returns the variable that names the file with the value of another variable. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}
