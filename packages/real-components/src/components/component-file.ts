import { existsSync } from "node:fs";
import { failedPrecondition } from "@oaas/foundation";
import { fileIn, isPresent } from "./cache.ts";
import { componentOf, type ComponentFileName, type ComponentName } from "./manifest.ts";

/** The path of a program or folder of a component that is there; otherwise a fault that names the remedy. */
export function componentFile(name: ComponentFileName): string {
  const component = componentOf(name);
  const path = fileIn(component, name);
  if (path !== undefined && existsSync(path)) return path;
  throw failedPrecondition(component.name, whyMissing(component.name as ComponentName));
}

/** Which of these components are not there, each with the remedy. */
export function missingComponents(names: readonly (ComponentName | ComponentFileName)[]): string[] {
  const wanted = new Set(names.map((name) => componentOf(name)));
  return [...wanted]
    .filter((component) => !isPresent(component))
    .map((component) => whyMissing(component.name as ComponentName));
}

function whyMissing(name: ComponentName): string {
  const component = componentOf(name);
  return `the real component ${name} ${component.version} is not there: run "npm run components -- ${name}"`;
}
