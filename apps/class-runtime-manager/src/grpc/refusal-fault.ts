import { failedPrecondition, invalidArgument, violationsUnder, type Fault } from "@oaas/foundation";
import type { Refusal } from "../templates/refusal.ts";

/** A class that cannot be brought about here, as callers are told. */
export function refusalFault({ kind, message, addon, violations }: Refusal): Fault {
  if (kind === "invalid") return invalidArgument("the unit", violationsUnder("$.deployment_unit", violations));
  return failedPrecondition(addon ?? "template", message);
}
