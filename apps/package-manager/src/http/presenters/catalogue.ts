import { classToWire, functionToWire } from "@oaas/contracts/rest";
import type { ClassDefinition, FunctionDefinition } from "@oaas/models";

const classTexts = new WeakMap<ClassDefinition, string>();
const functionTexts = new WeakMap<FunctionDefinition, string>();

/** Classes as a JSON list; each is written once as long as it does not change. */
export function classesJson(classes: readonly ClassDefinition[]): string {
  return `[${classes.map((each) => written(classTexts, each, classToWire)).join(",")}]`;
}

/** Functions as a JSON list. */
export function functionsJson(functions: readonly FunctionDefinition[]): string {
  return `[${functions.map((each) => written(functionTexts, each, functionToWire)).join(",")}]`;
}

function written<T extends object>(texts: WeakMap<T, string>, item: T, toWire: (item: T) => unknown): string {
  let text = texts.get(item);
  if (text === undefined) {
    text = JSON.stringify(toWire(item));
    texts.set(item, text);
  }
  return text;
}
