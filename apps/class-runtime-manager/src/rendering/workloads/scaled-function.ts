import { autoscaler, isAutoscaled } from "../manifests/autoscaler.ts";
import type { Manifest } from "../model/rendered.ts";
import type { WorkloadContext, WorkloadMaker } from "./workload.ts";
import { guards, refTo, servedFunction } from "./function-children.ts";
import { functionService } from "./function-service.ts";

/** All around a workload whose number of pods an autoscaler may decide: its Service, the autoscaler, its guards. */
export function scaledFunction(
  { plan, fn }: WorkloadContext,
  workload: Manifest,
  replicas: number,
): ReturnType<WorkloadMaker["make"]> {
  const scaled = isAutoscaled(plan, fn);
  return {
    children: [
      functionService(plan, fn),
      workload,
      ...(scaled ? [autoscaler(plan, fn, refTo(workload))] : []),
      ...guards(plan, fn, replicas),
    ],
    rendered: servedFunction(fn, workload, {
      replicas,
      ...(scaled && fn.scale.max !== undefined ? { maxReplicas: fn.scale.max } : {}),
      replicasOwner: scaled ? "autoscaler" : "template",
    }),
  };
}
