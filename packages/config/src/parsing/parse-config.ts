import { err, Fault, ok, violationText, type Result, type Violation } from "@oaas/foundation";
import type { ConfigSchema, Placed } from "../schema/define-config.ts";
import { memberVariable, nameOf } from "../schema/family.ts";
import { readFlags } from "./flags.ts";
import { resolveVariable, type Inputs, type Resolved } from "./resolve-variable.ts";
import { knownNames, unknownNames } from "./unknown-names.ts";

/** Where a configuration is read from. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For `<NAME>_FILE`; throws when the file cannot be read. */
  readonly readFile?: (path: string) => string;
  /** Flags as on the command line: `--http-port=8080`. They win over the environment. */
  readonly args?: readonly string[];
}

/** Every variable's effective value, before they are put together. */
interface Resolution {
  readonly values: readonly Placed<Resolved>[];
  /** Values per NAME of a family: the path is the family's, the NAME and the member's key. */
  readonly familyValues: readonly Placed<Resolved>[];
  readonly violations: readonly Violation[];
}

/**
 * Reads a configuration.
 *
 * Guarantees: never throws on any input; all that is wrong is reported at once; the result is frozen to its leaves.
 * An empty text counts as not set; an empty flag unsets what the environment says.
 */
export function parseConfig<C>(schema: ConfigSchema<C>, sources: ConfigSources): Result<C, readonly Violation[]> {
  const { values, familyValues, violations } = resolve(schema, sources);
  if (violations.length > 0) return err(violations);
  const config: Tree = {};
  for (const { path } of schema.families) place(config, path, {});
  for (const { path, at } of [...values, ...familyValues]) place(config, path, at.value);
  const whole = deepFreeze(config) as C;
  const broken = schema.check(whole);
  return broken.length > 0 ? err(broken) : ok(whole);
}

/** Reads a configuration or throws one fault, OAAS_CONFIG_INVALID, that names everything wrong with it. */
export function loadConfig<C>(schema: ConfigSchema<C>, sources: ConfigSources): C {
  const parsed = parseConfig(schema, sources);
  if (!parsed.ok) throw configFault(schema, parsed.error);
  return parsed.value;
}

/** The one fault that all mistakes of a configuration become, a line each. */
export function configFault(schema: ConfigSchema<unknown>, violations: readonly Violation[]): Fault {
  const lines = violations.map(
    (violation) => `\n  ${violationText(violation).replace(/^\$\.?(?:\['(.*?)'\])?/, "$1")}`,
  );
  return new Fault(
    { kind: "invalid-argument", violations },
    `The configuration of ${schema.title} is invalid:${lines.join("")}`,
    { code: "OAAS_CONFIG_INVALID" },
  );
}

/** A variable that is set and has no effect. */
export interface UnusedSetting {
  readonly name: string;
  readonly text: string;
  readonly reason: string;
}

/** Lists the variables and flags that are set although the schema declares them as not used yet. Does not throw. */
export function unusedSettings(schema: ConfigSchema<unknown>, sources: ConfigSources): readonly UnusedSetting[] {
  const flags = readFlags(sources.args ?? []).values;
  return [...schema.notUsedYet].flatMap(([name, reason]) => {
    const text = flags.has(name) ? (flags.get(name) ?? "true") : (sources.env[name] ?? "");
    return text === "" ? [] : [{ name, text, reason }];
  });
}

/** Finds the value and origin of every variable, those of families included. */
export function resolve(schema: ConfigSchema<unknown>, sources: ConfigSources): Resolution {
  const flags = readFlags(sources.args ?? []);
  const known = knownNames(schema);
  const base: Inputs = { env: sources.env, flags: flags.values, readFile: sources.readFile, profile: undefined };
  const profile = schema.profile && resolveVariable(schema.profile, base).value;
  const inputs: Inputs = { ...base, profile: profile as string | undefined };
  const values = schema.variables.map(({ path, at }) => ({ path, at: resolveVariable(at, inputs) }));
  const familyValues = resolveFamilies(schema, known, inputs);
  const violations = [...values, ...familyValues].flatMap(({ at }) => at.violations);
  return {
    values,
    familyValues,
    violations: [...flags.violations, ...unknownNames(schema, known, inputs), ...violations],
  };
}

function resolveFamilies(
  schema: ConfigSchema<unknown>,
  known: ReadonlySet<string>,
  inputs: Inputs,
): Placed<Resolved>[] {
  if (schema.families.length === 0) return [];
  const set = Object.keys(inputs.env).filter((name) => inputs.env[name] !== undefined && inputs.env[name] !== "");
  const candidates = [...set, ...inputs.flags.keys()].filter((name) => !known.has(name));
  return schema.families.flatMap(({ path, at: family }) => {
    const names = new Set(candidates.map((name) => nameOf(family, name)).filter((name) => name !== undefined));
    return [...names].sort().flatMap((name) =>
      [...family.members].map(([key, member]) => ({
        path: [...path, name, key],
        at: resolveVariable(memberVariable(family, member, name), inputs),
      })),
    );
  });
}

interface Tree {
  [key: string]: unknown;
}

function place(root: Tree, path: readonly string[], value: unknown): void {
  let node = root;
  for (const key of path.slice(0, -1)) node = (node[key] ??= {}) as Tree;
  node[path.at(-1) ?? ""] = value;
}

/** Plain objects and arrays only: others, such as buffers, may refuse to be frozen. */
function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
