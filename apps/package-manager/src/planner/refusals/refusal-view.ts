import { failedPrecondition, invalidArgument, unavailable, type Fault } from "@oaas/foundation";
import type { PlanRefusal } from "../plan-types.ts";
import { refusalToWire } from "../explanation/plan-view.ts";

/** A refusal as a fault: the wish is wrong, the world forbids it, or nobody can tell until clusters come back. */
export function refusalFault(refusal: PlanRefusal): Fault {
  switch (refusal.kind) {
    case "invalid":
      return invalidArgument("the deployment", refusal.violations);
    case "disabled":
    case "no-cluster":
    case "throughput-out-of-reach":
    case "out-of-reach":
      return failedPrecondition(refusal.subject, refusal.message, { evidence: refusalToWire(refusal) });
    case "no-usable-cluster": {
      const subject = refusal.unusable.join(", ");
      const refuse = refusal.assumed ? failedPrecondition : unavailable;
      return refuse(subject, refusal.message, { evidence: refusalToWire(refusal) });
    }
  }
}
