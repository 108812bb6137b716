import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import type { CapacityCheckpoint } from "@oaas/nfr/analyzer";
import { omitUndefined } from "../omit-empty.ts";

type StatusCapacity = NonNullable<ClassRuntimeStatus["nfr_capacity"]>[number];

/** The learnt capacity of a component, as stored in the status. */
export interface StoredCapacity extends CapacityCheckpoint {
  readonly component: string;
}

export function capacityToStatus(one: StoredCapacity): StatusCapacity {
  const { component, rpsPerReplica, confidence, revision, percentile, learntUntilMs, points } = one;
  return omitUndefined({
    component,
    rps_per_replica: rpsPerReplica,
    confidence,
    revision,
    percentile,
    learnt_until: timestamp(learntUntilMs),
    points,
  });
}

export function capacityFromStatus(one: StatusCapacity): StoredCapacity {
  const { component, rps_per_replica: rpsPerReplica, confidence, revision, percentile, learnt_until, points } = one;
  const learntUntilMs = Date.parse(learnt_until);
  return omitUndefined({ component, rpsPerReplica, confidence, revision, percentile, learntUntilMs, points });
}
