import { nearest, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import { configFileNames } from "../file/config-file-path.ts";
import type { ConfigSchema } from "../schema/define-config.ts";
import { memberVariable, nameOf, spellings, type Family } from "../schema/family.ts";
import { flagOf } from "./flags.ts";
import { isInjected } from "./kubernetes-injected.ts";
import type { Inputs } from "./resolve-variable.ts";

/** Returns all names in a schema except families. */
export function knownNames(schema: ConfigSchema<unknown>): ReadonlySet<string> {
  return new Set([
    ...schema.variables.flatMap(({ at }) => spellings(at)),
    ...schema.removedSettings.keys(),
    ...configFileNames(schema),
  ]);
}

/** Returns a violation with the nearest known name for each undeclared flag and variable. */
export function unknownNames(schema: ConfigSchema<unknown>, known: ReadonlySet<string>, inputs: Inputs): Violation[] {
  const isKnown = (name: string): boolean =>
    known.has(name) || schema.families.some(({ at }) => nameOf(at, name) !== undefined);
  const violations: Violation[] = [];
  for (const name of inputs.flags.keys()) {
    if (isKnown(name)) continue;
    const best = nearestName(schema, known, name);
    violations.push(unknown(flagOf(name), "is an unknown flag", best && flagOf(best)));
  }
  for (const name of Object.keys(inputs.env)) {
    if (!schema.prefixes.some((prefix) => name.startsWith(prefix))) continue;
    const value = inputs.env[name];
    if (value === undefined || value === "" || isKnown(name) || isInjected(name, value)) continue;
    violations.push(unknown(name, "is an unknown variable", nearestName(schema, known, name)));
  }
  return violations;
}

function unknown(name: string, message: string, best: string | undefined): Violation {
  const path = pathOf(ROOT_PATH, name);
  return best === undefined ? { path, message } : { path, message, fix: `did you mean ${best}?` };
}

/** Returns the nearest name. A name that differs only by a prefix counts as near. */
function nearestName(schema: ConfigSchema<unknown>, known: ReadonlySet<string>, name: string): string | undefined {
  const spelt = nearest(name, candidates(schema, known, name));
  const prefix = schema.prefixes.find((candidate) => name.startsWith(candidate));
  if (prefix === undefined) return spelt.name === "" ? undefined : spelt.name;
  const bare = nearest(name.slice(prefix.length), known);
  const best = bare.distance + 1 < spelt.distance ? bare.name : spelt.name;
  return best === "" ? undefined : best;
}

function* candidates(schema: ConfigSchema<unknown>, known: ReadonlySet<string>, name: string): Iterable<string> {
  yield* known;
  for (const { at } of schema.families) yield* familyCandidates(at, name);
}

/** Yields the variables of the family for every possible NAME in the misspelt variable. */
function* familyCandidates(family: Family<unknown>, misspelt: string): Iterable<string> {
  const [before = ""] = family.pattern.split("<NAME>");
  const rest = misspelt.slice(before.length);
  for (let end = rest.indexOf("_"); end >= 0; end = rest.indexOf("_", end + 1)) {
    const name = rest.slice(0, end);
    if (!/^[A-Z0-9_]+$/.test(name)) continue;
    for (const member of family.members.values()) yield* spellings(memberVariable(family, member, name));
  }
}
