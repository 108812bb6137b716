import { Fault } from "@oaas/foundation";
import { labelValue } from "../../templates/index.ts";
import type { StoredClass } from "../../classes/ports.ts";

/** The function whose label value this is; the label itself when the class no longer has it. */
export function functionOfLabel(object: StoredClass, label: string): string {
  return functionKeys(object).find((key) => labelValue(key) === label) ?? label;
}

/** Throws not-found with the known functions. */
export function assertFunction(object: StoredClass, functionKey: string): void {
  const known = functionKeys(object);
  if (known.includes(functionKey)) return;
  throw new Fault(
    { kind: "not-found", resource: "function", name: functionKey },
    `function "${functionKey}" was not found: the class has ${known.join(", ") || "no functions"}`,
  );
}

function functionKeys({ spec }: StoredClass): readonly string[] {
  return (spec.functions ?? []).map(({ function_key: key }) => key ?? "");
}
