import { existsSync } from "node:fs";
import { failedPrecondition } from "@oaas/foundation";
import { fileIn, isPresent } from "./cache.ts";
import { componentOf, type ComponentFileName, type ComponentName } from "../manifest.ts";

/** The path of a program or folder of a component; throws a fault with the fix if the component is missing. */
export function componentFile(name: ComponentFileName): string {
  const component = componentOf(name);
  const path = fileIn(component, name);
  if (path !== undefined && existsSync(path)) return path;
  throw failedPrecondition(component.name, missingText(component.name as ComponentName));
}

/** The missing components among these, each with the fix. */
export function missingComponents(names: readonly (ComponentName | ComponentFileName)[]): string[] {
  const wanted = new Set(names.map((name) => componentOf(name)));
  return [...wanted]
    .filter((component) => !isPresent(component))
    .map((component) => missingText(component.name as ComponentName));
}

function missingText(name: ComponentName): string {
  const component = componentOf(name);
  return `the real component ${name} ${component.version} is missing: run "npm run components -- ${name}"`;
}
