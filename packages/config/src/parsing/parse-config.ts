import { err, Fault, ok, violationText, type Result, type Violation } from "@oaas/foundation";
import type { ConfigSchema, Placed } from "../schema/define-config.ts";
import { BOOL_LABEL } from "../kinds/scalar-kinds.ts";
import { isNameOfMember, memberVariable, nameOf, spellings } from "../schema/family.ts";
import { readFlags } from "./flags.ts";
import { findConfigFile } from "../file/config-file-path.ts";
import { readConfigFile, type ConfigFile, type ConfigViolation } from "../file/read-config-file.ts";
import { resolveVariable, type Inputs, type Resolved } from "./resolve-variable.ts";
import { knownNames, unknownNames } from "./unknown-names.ts";

/** Inputs of a configuration. */
export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** For `<NAME>_FILE`; throws when the file cannot be read. */
  readonly readFile?: (path: string) => string;
  /** Command line flags such as `--http-port=8080` or `--http-port 8080`. They override the environment. */
  readonly args?: readonly string[];
  /** The file of `configFilePath`, which the environment overrides. */
  readonly file?: ConfigFile | undefined;
}

/** Effective values of all variables. */
interface Resolution {
  readonly values: readonly Placed<Resolved>[];
  /** Values of families. The path is the path of the family, the NAME and the key of the member. */
  readonly familyValues: readonly Placed<Resolved>[];
  readonly violations: readonly ConfigViolation[];
}

/** Path of the configuration file that flags or environment name. Throws the fault of an invalid flag. */
export function configFilePath(schema: ConfigSchema<unknown>, { env, args = [] }: ConfigSources): string | undefined {
  const { path, violations } = findConfigFile(schema, env, readFlags(args, switchesOf(schema)).values);
  if (violations.length > 0) throw configFault(schema, violations);
  return path;
}

/**
 * Parses a configuration.
 *
 * Guarantees: never throws; returns all violations at once; the result is deeply frozen. An empty value counts as not
 * set; an empty flag unsets a variable of the environment.
 */
export function parseConfig<C>(schema: ConfigSchema<C>, sources: ConfigSources): Result<C, readonly ConfigViolation[]> {
  const resolution = resolve(schema, sources);
  const { values, familyValues, violations } = resolution;
  if (violations.length > 0) return err(violations);
  const config: Tree = {};
  for (const { path } of schema.families) setAt(config, path, {});
  for (const { path, at } of [...values, ...familyValues]) setAt(config, path, at.value);
  const frozen = deepFreeze(config) as C;
  const problems = schema.check(frozen);
  return problems.length > 0 ? err(withPlaces(problems, resolution)) : ok(frozen);
}

/** Parses a configuration. Throws one fault, OAAS_CONFIG_INVALID, with all violations. */
export function loadConfig<C>(schema: ConfigSchema<C>, sources: ConfigSources): C {
  const parsed = parseConfig(schema, sources);
  if (!parsed.ok) throw configFault(schema, parsed.error);
  return parsed.value;
}

/** Returns the fault for all violations of a configuration, one per line. */
export function configFault(schema: ConfigSchema<unknown>, violations: readonly ConfigViolation[]): Fault {
  const lines = violations.map((violation) => `\n  ${configViolationText(violation)}`);
  return new Fault(
    { kind: "invalid-argument", violations },
    `The configuration of ${schema.title} is invalid:${lines.join("")}`,
    { code: "OAAS_CONFIG_INVALID" },
  );
}

/** Formats a violation: `SERVER_PORT: …`, or `pm.yaml:3:9: server.port (SERVER_PORT): …`. */
function configViolationText({ place, ...violation }: ConfigViolation): string {
  const text = violationText(violation).replace(/^\$\.?(?:\['(.*?)'\])?/, "$1");
  if (place === undefined) return text;
  const at = `${place.file}:${place.line}:${place.column}`;
  if (place.key === "") return `${at}${text}`;
  const variable = /^\$\.([A-Z][A-Z0-9_]*)/.exec(violation.path)?.[1];
  const rest = text.slice(text.indexOf(": "));
  return `${at}: ${place.key}${variable === undefined || variable === place.key ? "" : ` (${variable})`}${rest}`;
}

/** A variable that is set and has no effect. */
export interface UnusedSetting {
  readonly name: string;
  readonly text: string;
  readonly reason: string;
}

/** Lists the variables and flags that are set although the schema declares them as removed. Does not throw. */
export function unusedSettings(schema: ConfigSchema<unknown>, sources: ConfigSources): readonly UnusedSetting[] {
  const flags = readFlags(sources.args ?? [], switchesOf(schema)).values;
  return [...schema.removedSettings].flatMap(([name, reason]) => {
    const text = flags.has(name) ? (flags.get(name) ?? "true") : (sources.env[name] ?? "");
    return text === "" ? [] : [{ name, text, reason }];
  });
}

/** Finds the value and origin of every variable, including families. */
export function resolve(schema: ConfigSchema<unknown>, sources: ConfigSources): Resolution {
  const flags = readFlags(sources.args ?? [], switchesOf(schema));
  const known = knownNames(schema);
  const file = sources.file && readConfigFile(schema, sources.file);
  const { env, readFile } = sources;
  const base: Inputs = { env, flags: flags.values, readFile, file, profile: undefined };
  const profile = schema.profile && resolveVariable(schema.profile, base).value;
  const inputs: Inputs = { ...base, profile: profile as string | undefined };
  const values = schema.variables.map(({ path, at }) => ({ path, at: resolveVariable(at, inputs) }));
  const familyValues = resolveFamilies(schema, known, inputs);
  const violations = [...values, ...familyValues].flatMap(({ at }) => at.violations);
  return {
    values,
    familyValues,
    violations: [
      ...flags.violations,
      ...findConfigFile(schema, sources.env, flags.values).violations,
      ...unknownNames(schema, known, inputs),
      ...(file?.violations ?? []),
      ...withPlaces(violations, { values }),
    ],
  };
}

const VARIABLE_IN_PATH = /^\$\.([A-Z][A-Z0-9_]*)/;
const KEY_IN_PATH = /\.([A-Za-z_]\w*)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g;

/** Adds the place in the configuration file to violations of variables that it sets. */
function withPlaces(
  violations: readonly Violation[],
  { values }: Pick<Resolution, "values">,
): readonly ConfigViolation[] {
  return violations.map((violation) => {
    const [head = "", name] = VARIABLE_IN_PATH.exec(violation.path) ?? [];
    const inFile = values.find(({ at }) => at.spec.name === name)?.at.inFile;
    if (inFile === undefined) return violation;
    const below = [...violation.path.slice(head.length).matchAll(KEY_IN_PATH)].map(([, member, index, quoted]) =>
      index === undefined ? (member ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? "") : Number(index),
    );
    return { ...violation, place: inFile.placeOf(below) };
  });
}

/** Whether a variable is a boolean, whose flag needs no value. */
function switchesOf({ variables, families }: ConfigSchema<unknown>): (variable: string) => boolean {
  const switches = new Set(
    variables.filter(({ at }) => at.kind.label === BOOL_LABEL).flatMap(({ at }) => spellings(at)),
  );
  const members = families.flatMap(({ at }) =>
    [...at.members.values()].filter(({ kind }) => kind.label === BOOL_LABEL).map((member) => ({ family: at, member })),
  );
  return (variable) =>
    switches.has(variable) || members.some(({ family, member }) => isNameOfMember(family, member, variable));
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

function setAt(root: Tree, path: readonly string[], value: unknown): void {
  let node = root;
  for (const key of path.slice(0, -1)) node = (node[key] ??= {}) as Tree;
  node[path.at(-1) ?? ""] = value;
}

/** Freezes plain objects and arrays only; others, such as buffers, may not be freezable. */
function deepFreeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
}
