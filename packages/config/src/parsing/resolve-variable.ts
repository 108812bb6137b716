import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { fileVariable } from "../schema/family.ts";
import { flagOf } from "./flags.ts";
import { isInjectedPort } from "./kubernetes-injected.ts";
import { maskRefused } from "../output/mask.ts";
import type { Origin } from "./origin.ts";
import { BOOL_LABEL, PORT_LABEL } from "../kinds/scalar-kinds.ts";
import type { VariableSpec } from "../schema/variable.ts";

/** What the values are taken from. */
export interface Inputs {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlyMap<string, string | undefined>;
  /** Throws when the file cannot be read. */
  readonly readFile: ((path: string) => string) | undefined;
  /** The profile in force, once it is known. */
  readonly profile: string | undefined;
}

/** A variable's effective value, or what is wrong with it. */
export interface Resolved {
  readonly spec: VariableSpec;
  readonly origin: Origin;
  readonly value: unknown;
  readonly violations: readonly Violation[];
}

/** A text found for a variable, and the name it was found under. */
interface Found {
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
}

/** Finds and parses the value of one variable: flag, then environment or file, then default of the profile, then default. */
export function resolveVariable(spec: VariableSpec, inputs: Inputs): Resolved {
  const found = findFlags(spec, inputs) ?? findInEnvironment(spec, inputs);
  if (!found.ok) return { spec, origin: { from: "unset" }, value: undefined, violations: found.error };
  const [first, ...others] = found.value;
  if (first === undefined) return withoutText(spec, inputs.profile);
  const parsed = parseText(spec, first);
  const rival = others.find((other) => !sameMeaning(spec, first.text, other.text));
  if (rival !== undefined) {
    return { spec, origin: first.origin, value: undefined, violations: [contradiction(first.name, rival.name)] };
  }
  return parsed.ok
    ? { spec, origin: first.origin, value: parsed.value, violations: [] }
    : { spec, origin: first.origin, value: undefined, violations: parsed.error };
}

type Finding = Result<readonly Found[], readonly Violation[]>;

/** Undefined when no flag names the variable; an empty flag unsets it, whatever the environment says. */
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

function readNamedFile(name: string, file: string, inputs: Inputs): Result<Found, readonly Violation[]> {
  const refuse = (message: string): Result<never, readonly Violation[]> =>
    err([{ path: pathOf(ROOT_PATH, name), message }]);
  if (inputs.readFile === undefined) return refuse("names a file, and files cannot be read here");
  try {
    const text = inputs.readFile(file).replace(/[\r\n]+$/, "");
    return text === ""
      ? refuse(`names the file ${file}, which is empty`)
      : ok({ name, text, origin: { from: "file", name, file } });
  } catch (thrown) {
    return refuse(`names the file ${file}, which cannot be read${reason(thrown)}`);
  }
}

function reason(thrown: unknown): string {
  const code = (thrown as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? ` (${code})` : "";
}

function parseText(spec: VariableSpec, found: Found): Result<unknown, readonly Violation[]> {
  const parsed = spec.kind.parse(found.text);
  if (parsed.ok) return parsed;
  const mayShow = spec.kind.echo && !spec.secret && found.origin.from !== "file";
  const shown = mayShow ? `, not "${shorten(maskRefused(found.text))}"` : "";
  const violations = parsed.error.map((violation) => ({ ...violation, message: violation.message + shown }));
  return err(violationsUnder(pathOf(ROOT_PATH, found.name), violations));
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

function sameMeaning(spec: VariableSpec, one: string, other: string): boolean {
  if (one === other) return true;
  const [a, b] = [spec.kind.parse(one), spec.kind.parse(other)];
  return a.ok && b.ok && spec.kind.show(a.value) === spec.kind.show(b.value);
}

function withoutText(spec: VariableSpec, profile: string | undefined): Resolved {
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

function contradiction(one: string, other: string): Violation {
  return {
    path: pathOf(ROOT_PATH, one),
    message: `has another value than ${other}, which is the same setting`,
    fix: "set only one of them",
  };
}

function needsValue(name: string): Violation {
  return { path: pathOf(ROOT_PATH, name), message: "has no value", fix: `write ${flagOf(name)}=value` };
}
