import type { PlanRefusalWire, RemedyWire } from "@oaas/contracts/rest";
import { failedPrecondition, invalidArgument, unavailable, type Fault } from "@oaas/foundation";
import { verdictToWire } from "../explanation/plan-view.ts";
import type { PlanRefusal, Remedy } from "../plan-types.ts";

/** A refusal as a fault: invalid request, unmet precondition, or unavailable while clusters are down. */
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

/** A refusal in the JSON of the REST API. */
export function refusalToWire(refusal: Exclude<PlanRefusal, { kind: "invalid" }>): PlanRefusalWire {
  const base = { reason: refusal.kind, remedies: [], clusters: refusal.clusters.map(verdictToWire) };
  switch (refusal.kind) {
    case "out-of-reach": {
      const { target, best, remedies } = refusal;
      return {
        ...base,
        target_availability: target,
        ...(best === undefined ? {} : { best }),
        remedies: remedies.map(remedyToWire),
      };
    }
    case "throughput-out-of-reach":
      return { ...base, needed_replicas: refusal.neededReplicas, max_replicas: refusal.maxReplicas };
    case "disabled":
    case "no-cluster":
    case "no-usable-cluster":
      return base;
  }
}

function remedyToWire(remedy: Remedy): RemedyWire {
  const { kind, text } = remedy;
  switch (remedy.kind) {
    case "lower-target":
      return { kind, text, targets: remedy.targets };
    case "raise-cap":
      return { kind, text, max_replicas: remedy.maxReplicas };
    case "add-cluster":
      return { kind, text, availability: remedy.availability };
    case "restore-cluster":
      return { kind, text, clusters: [remedy.cluster] };
    case "leave-out":
    case "connect-clusters":
      return { kind, text, clusters: remedy.clusters };
    case "lower-replica-count":
      return { kind, text, replica_count: remedy.replicaCount };
    case "allow-best-effort":
      return { kind, text };
  }
}
