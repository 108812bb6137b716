import { classDeploymentToWire, classToWire, functionToWire, type packageSummaryView } from "@oaas/contracts/rest";
import type { ClassDefinition, FunctionDefinition, ObservedDeployment, Package } from "@oaas/models";
import type { z } from "zod";
import { maskDeployment, maskFunction } from "../../masking/mask-settings.ts";

const MAX_PAGES = 32;

/*
 * Views keep immutable values, and each state is a new value: a value is serialised once, and a page of the same values is the same bytes.
 * Serialising a page of 100 packages for each request would take twice as long as sending it.
 */

export const deploymentJson: (deployment: ObservedDeployment) => string = serialiseOnce(classDeploymentToWire);
export const classJson: (definition: ClassDefinition) => string = serialiseOnce(classToWire);
export const functionJson: (definition: FunctionDefinition) => string = serialiseOnce(functionToWire);

export const packageSummaryJson: (definition: Package) => string = serialiseOnce(packageSummaryToWire);

/** The same values for callers that may not read secrets. */
export const maskedFunctionJson: typeof functionJson = serialiseOnce((definition) =>
  functionToWire(maskFunction(definition)),
);
export const maskedDeploymentJson: typeof deploymentJson = serialiseOnce(({ deployment, ...observed }) =>
  classDeploymentToWire({ ...observed, deployment: maskDeployment(deployment) }),
);

/** Returns a function that serialises a list of values as a JSON array and keeps the latest pages. */
export function pageSerialiser<T extends object>(textOf: (value: T) => string): (values: readonly T[]) => Buffer {
  const pages = new Map<T | undefined, { readonly values: readonly T[]; readonly bytes: Buffer }>();
  return (values) => {
    const [first] = values;
    const kept = pages.get(first);
    if (kept?.values.length === values.length && kept.values.every((value, at) => value === values[at]))
      return kept.bytes;
    const bytes = Buffer.from(`[${values.map(textOf).join(",")}]`);
    pages.delete(first);
    pages.set(first, { values, bytes });
    if (pages.size > MAX_PAGES) pages.delete(pages.keys().next().value);
    return bytes;
  };
}

function serialiseOnce<T extends object>(toWire: (value: T) => unknown): (value: T) => string {
  const texts = new WeakMap<T, string>();
  return (value) => {
    let text = texts.get(value);
    if (text === undefined) texts.set(value, (text = JSON.stringify(toWire(value))));
    return text;
  };
}

function packageSummaryToWire(definition: Package): z.output<typeof packageSummaryView> {
  const { name, version, metadata, classes, functions, disabled } = definition;
  return {
    name,
    version: version ?? null,
    description: metadata.description ?? null,
    tags: metadata.tags,
    classes: classes.map(({ key }) => key),
    functions: functions.length,
    disabled,
    created_at: metadata.createdAt ?? null,
    updated_at: metadata.updatedAt ?? null,
  };
}
