import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import type { FilePlace, FileValue, FileValues } from "../file/read-config-file.ts";
import { fileVariable } from "../schema/family.ts";
import { flagOf } from "./flags.ts";
import { isInjectedPort } from "./kubernetes-injected.ts";
import { maskInvalid } from "../output/mask.ts";
import type { Origin } from "./origin.ts";
import { BOOL_LABEL, PORT_LABEL } from "../kinds/scalar-kinds.ts";
import type { VariableSpec } from "../schema/variable.ts";

/** Sources of values. */
export interface Inputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlyMap<string, string | undefined>;
  /** Throws when the file cannot be read. */
  readonly readFile: ((path: string) => string) | undefined;
  /** The values of the configuration file; undefined without one. */
  readonly file: FileValues | undefined;
  /** The selected profile; undefined until it is known. */
  readonly profile: string | undefined;
}

/** Effective value of a variable, or its violations. */
export interface Resolved {
  readonly spec: VariableSpec;
  readonly origin: Origin;
  readonly value: unknown;
  readonly violations: readonly Violation[];
  /** The value of the configuration file, if it is in effect. */
  readonly inFile?: FileValue;
}

/** A text found for a variable, and the name of its source. */
interface Found {
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
}

/** Resolves a variable: flag, environment, configuration file, default of the profile, default. */
export function resolveVariable(spec: VariableSpec, inputs: Inputs): Resolved {
  const given = findFlags(spec, inputs) ?? findInEnvironment(spec, inputs);
  const isUnset = given.ok && given.value.length === 0;
  const inFile = isUnset && !isUnsetByFlag(spec, inputs) ? inputs.file?.values.get(spec.name) : undefined;
  if (inFile === undefined) return resolveFound(spec, given, inputs);
  return { ...resolveFound(spec, findInFile(spec, inFile, inputs), inputs), inFile };
}

function resolveFound(spec: VariableSpec, found: Finding, inputs: Inputs): Resolved {
  if (!found.ok) return { spec, origin: { from: "unset" }, value: undefined, violations: found.error };
  const [first, ...others] = found.value;
  if (first === undefined) return defaultOf(spec, inputs.profile);
  const parsed = parseText(spec, first);
  const conflicting = others.find((other) => !isSameValue(spec, first.text, other.text));
  if (conflicting !== undefined) {
    return {
      spec,
      origin: first.origin,
      value: undefined,
      violations: [conflictingValues(first.name, conflicting.name)],
    };
  }
  return parsed.ok
    ? { spec, origin: first.origin, value: parsed.value, violations: [] }
    : { spec, origin: first.origin, value: undefined, violations: parsed.error };
}

type Finding = Result<readonly Found[], readonly Violation[]>;

/** Returns undefined when no flag sets the variable. An empty flag unsets it. */
function findFlags(spec: VariableSpec, inputs: Inputs): Finding | undefined {
  if (inputs.flags.size === 0) return undefined;
  const given = namesOf(spec).filter(({ name }) => inputs.flags.has(name));
  if (given.length === 0) return undefined;
  return collect(given, ({ name, isFile }) => {
    const text = inputs.flags.get(name) ?? (spec.kind.label === BOOL_LABEL && !isFile ? "true" : undefined);
    if (text === undefined) return err([needsValue(name)]);
    if (text === "") return ok(undefined);
    return isFile ? readNamedFile(name, text, inputs) : ok({ name, text, origin: { from: "flag", name } });
  });
}

function findInEnvironment(spec: VariableSpec, inputs: Inputs): Finding {
  return collect(namesOf(spec), ({ name, isFile }) => {
    const text = inputs.env[name];
    if (text === undefined || text === "") return ok(undefined);
    if (isFile) return readNamedFile(name, text, inputs);
    if (spec.kind.label === PORT_LABEL && isInjectedPort(name, text)) return ok(undefined);
    return ok({ name, text, origin: { from: name === spec.name ? "env" : "alias", name } });
  });
}

function isUnsetByFlag(spec: VariableSpec, { flags }: Inputs): boolean {
  return flags.size > 0 && namesOf(spec).some(({ name }) => flags.has(name));
}

function findInFile({ name }: VariableSpec, { text, namesFile, placeOf }: FileValue, inputs: Inputs): Finding {
  const place = placeOf();
  if (!namesFile) return ok([{ name, text, origin: { from: "config-file", place } }]);
  const found = readNamedFile(name, text, inputs, place);
  return found.ok ? ok([found.value]) : found;
}

function namesOf(spec: VariableSpec): { readonly name: string; readonly isFile: boolean }[] {
  const names = [spec.name, ...spec.aliases];
  const plain = names.map((name) => ({ name, isFile: false }));
  return spec.fromFile ? [...plain, ...names.map((name) => ({ name: fileVariable(name), isFile: true }))] : plain;
}

function collect<N>(names: readonly N[], find: (name: N) => Result<Found | undefined, readonly Violation[]>): Finding {
  const found: Found[] = [];
  const violations: Violation[] = [];
  for (const name of names) {
    const one = find(name);
    if (!one.ok) violations.push(...one.error);
    else if (one.value !== undefined) found.push(one.value);
  }
  return violations.length > 0 ? err(violations) : ok(found);
}

function readNamedFile(
  name: string,
  file: string,
  inputs: Inputs,
  place?: FilePlace,
): Result<Found, readonly Violation[]> {
  const reject = (message: string): Result<never, readonly Violation[]> =>
    err([{ path: pathOf(ROOT_PATH, name), message }]);
  if (inputs.readFile === undefined) return reject("names a file, but reading files is not supported here");
  try {
    const text = inputs.readFile(file).replace(/(?<![\r\n])[\r\n]+$/, "");
    return text === ""
      ? reject(`names the empty file ${file}`)
      : ok({ name, text, origin: { from: "file", name: place?.key ?? name, file } });
  } catch (thrown) {
    return reject(`cannot read the file ${file}${reason(thrown)}`);
  }
}

function reason(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}

function parseText(spec: VariableSpec, found: Found): Result<unknown, readonly Violation[]> {
  const parsed = spec.kind.parse(found.text);
  if (parsed.ok) return parsed;
  const isPrintable = spec.kind.echo && !spec.secret && found.origin.from !== "file";
  const suffix = isPrintable ? `, not "${shorten(maskInvalid(found.text))}"` : "";
  const violations = parsed.error.map((violation) => ({ ...violation, message: violation.message + suffix }));
  return err(violationsUnder(pathOf(ROOT_PATH, found.name), violations));
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function isSameValue(spec: VariableSpec, one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [spec.kind.parse(one), spec.kind.parse(other)];
  return a.ok && b.ok && spec.kind.show(a.value) === spec.kind.show(b.value);
}

function defaultOf(spec: VariableSpec, profile: string | undefined): Resolved {
  if (profile !== undefined && spec.profileDefaults.has(profile)) {
    return { spec, origin: { from: "profile", profile }, value: spec.profileDefaults.get(profile), violations: [] };
  }
  if (spec.defaultValue !== undefined) {
    return { spec, origin: { from: "default" }, value: spec.defaultValue, violations: [] };
  }
  return { spec, origin: { from: "unset" }, value: undefined, violations: spec.required ? [missing(spec)] : [] };
}

function missing(spec: VariableSpec): Violation {
  const example = spec.example === undefined ? "" : `, for example ${spec.name}=${spec.example}`;
  return { path: pathOf(ROOT_PATH, spec.name), message: "is required", fix: `set it${example}` };
}

function conflictingValues(one: string, other: string): Violation {
  return {
    path: pathOf(ROOT_PATH, one),
    message: `conflicts with ${other}, another name of the same setting`,
    fix: "set only one of the two",
  };
}

function needsValue(name: string): Violation {
  return { path: pathOf(ROOT_PATH, name), message: "has no value", fix: `use ${flagOf(name)}=value` };
}
