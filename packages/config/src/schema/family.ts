import { renamed, type Variable, type VariableSpec } from "./variable.ts";

declare const valueType: unique symbol;

/** Variables that exist once per name, the name being part of the variable's own. */
export interface Family<V> {
  readonly [valueType]?: V;
  readonly declares: "family";
  /** As in the documents: `CRM_CLUSTER_<NAME>_`. */
  readonly pattern: string;
  readonly members: ReadonlyMap<string, VariableSpec>;
}

type Members = Readonly<Record<string, Variable<unknown, unknown, never>>>;

type MemberValues<M extends Members> = {
  readonly [K in keyof M]: M[K] extends Variable<infer V, infer _T, infer _D> ? V : never;
};

const PLACE = "<NAME>";

/**
 * Declares `CRM_CLUSTER_<NAME>_URL` and the like: `perName("CRM_CLUSTER_<NAME>_", { url: env("URL").url() })`.
 *
 * The configuration holds a record from each NAME found to its members' values. A variable that is declared by its
 * full name never belongs to a family.
 */
export function perName<const M extends Members>(pattern: string, members: M): Family<MemberValues<M>> {
  if (pattern.split(PLACE).length !== 2) throw new TypeError(`${pattern} must contain ${PLACE} once`);
  return {
    declares: "family",
    pattern,
    members: new Map(Object.entries(members).map(([key, member]) => [key, member.spec])),
  };
}

/** The NAME under which something called `name` appears in variables: "eu-west.1" is EU_WEST_1. */
export function nameInVariable(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

/** A member's variable for one NAME, or for the place itself in documents. */
export function memberVariable(family: Family<unknown>, member: VariableSpec, name: string = PLACE): VariableSpec {
  return renamed(member, (suffix) => family.pattern.replace(PLACE, () => name) + suffix);
}

/** The NAME inside a variable's name, if it is one of this family. Where several endings fit, the longest counts. */
export function nameOf(family: Family<unknown>, variable: string): string | undefined {
  const [before = "", after = ""] = family.pattern.split(PLACE);
  if (!variable.startsWith(before)) return undefined;
  let best: string | undefined;
  for (const member of family.members.values()) {
    for (const suffix of spellings(member)) {
      const name = variable.endsWith(after + suffix)
        ? variable.slice(before.length, variable.length - after.length - suffix.length)
        : "";
      if (/^[A-Z0-9_]+$/.test(name) && (best === undefined || name.length < best.length)) best = name;
    }
  }
  return best;
}

/** Every name a variable may be set under. */
export function spellings(spec: VariableSpec): readonly string[] {
  const names = [spec.name, ...spec.aliases];
  return spec.fromFile ? [...names, ...names.map(fileVariable)] : names;
}

/** The variable that names the file holding another variable's value. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}
