import { failedPrecondition, invalidArgument, violationsUnder, type Fault, type Violation } from "@oaas/foundation";
import type { Refusal } from "../../templates/refusal.ts";

/** A class that cannot be brought about here, as callers are told. */
export function refusalFault({ kind, message, addon, violations }: Refusal): Fault {
  if (kind === "invalid") return invalidArgument("the unit", violationsUnder("$.deployment_unit", violations));
  return failedPrecondition(addon ?? "template", message);
}

/** A class for which its environment has no room. */
export function quotaFault(environment: string, broken: readonly Violation[]): Fault {
  const why = broken.map(({ message, fix }) => (fix === undefined ? message : `${message}; ${fix}`)).join("; ");
  return failedPrecondition(`the quotas of environment "${environment}"`, why);
}
