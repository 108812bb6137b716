import { failedPrecondition, invalidArgument, unavailable, type Fault } from "@oaas/foundation";
import type { PlanRefusal } from "./plan-types.ts";

/** A refusal as a fault: the wish is wrong, the world forbids it, or nobody can tell until clusters come back. */
export function refusalFault(refusal: PlanRefusal): Fault {
  switch (refusal.kind) {
    case "invalid":
      return invalidArgument("the deployment", refusal.violations);
    case "disabled":
    case "no-cluster":
    case "throughput-out-of-reach":
    case "out-of-reach":
      return failedPrecondition(refusal.subject, refusal.message);
    case "no-usable-cluster": {
      const subject = refusal.unusable.join(", ");
      return refusal.assumed ? failedPrecondition(subject, refusal.message) : unavailable(subject, refusal.message);
    }
  }
}
