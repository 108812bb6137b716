import { memberVariable, spellings } from "./family.ts";
import { fileKeys } from "../file/file-keys.ts";
import type { ConfigSchema } from "./define-config.ts";
import type { VariableSpec } from "./variable.ts";

const NAME = /^[A-Z][A-Z0-9_]*$/;

/** Throws a TypeError for the first error in a schema. */
export function checkDefinition(schema: ConfigSchema<unknown>, profileKey: string | undefined): void {
  if (profileKey !== undefined && schema.profile === undefined)
    fail(profileKey, "is not the key of a variable that can select a profile");
  if (schema.profile?.required) fail(schema.profile.name, "selects the profile and requires a default");
  const usedNames = new Set<string>();
  for (const { at } of schema.variables) {
    checkVariable(at, schema);
    addNames(at, usedNames);
  }
  for (const { at: family } of schema.families) {
    for (const member of family.members.values()) {
      const variable = memberVariable(family, member, "X");
      checkVariable(variable, schema);
      addNames(variable, usedNames);
    }
  }
  if (schema.configFile !== undefined) {
    checkName(schema.configFile);
    if (usedNames.has(schema.configFile)) fail(schema.configFile, "is declared twice");
    fileKeys(schema);
  }
  for (const name of schema.removedSettings.keys()) {
    checkName(name);
    if (usedNames.has(name)) fail(name, "is declared twice");
  }
}

function checkVariable(spec: VariableSpec, schema: ConfigSchema<unknown>): void {
  if (spec.doc === "") fail(spec.name, "has no doc");
  for (const name of [spec.name, ...spec.aliases]) checkName(name);
  for (const value of [spec.defaultValue, ...spec.profileDefaults.values()]) {
    if (value !== undefined && !spec.kind.parse(spec.kind.show(value)).ok) fail(spec.name, "has an invalid default");
  }
  for (const profile of spec.profileDefaults.keys()) {
    const known = schema.profile?.kind.parse(profile);
    if (known?.ok !== true || known.value !== profile)
      fail(spec.name, `has a default for the unknown profile "${profile}"`);
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) fail(name, "is not a valid variable name");
}

function addNames(spec: VariableSpec, usedNames: Set<string>): void {
  for (const name of spellings(spec)) {
    if (usedNames.has(name)) fail(name, "is declared twice");
    usedNames.add(name);
  }
}

function fail(subject: string, what: string): never {
  throw new TypeError(`${subject} ${what}`);
}
