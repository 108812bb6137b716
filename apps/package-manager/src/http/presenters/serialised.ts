import { classDeploymentToWire, classToWire, functionToWire } from "@oaas/contracts/rest";
import type { ClassDefinition, FunctionDefinition, ObservedDeployment } from "@oaas/models";

/** A deployment as JSON. */
export const deploymentJson: (deployment: ObservedDeployment) => string = serialiseOnce(classDeploymentToWire);
/** A class as JSON. */
export const classJson: (definition: ClassDefinition) => string = serialiseOnce(classToWire);
/** A function as JSON. */
export const functionJson: (definition: FunctionDefinition) => string = serialiseOnce(functionToWire);

/** A JSON array of serialised items. */
export function jsonArray(items: readonly string[]): string {
  return `[${items.join(",")}]`;
}

/** Views keep immutable values and each state is a new one: a page of 100 joins texts and serialises nothing again. */
function serialiseOnce<T extends object>(toWire: (value: T) => unknown): (value: T) => string {
  const texts = new WeakMap<T, string>();
  return (value) => {
    let text = texts.get(value);
    if (text === undefined) texts.set(value, (text = JSON.stringify(toWire(value))));
    return text;
  };
}
