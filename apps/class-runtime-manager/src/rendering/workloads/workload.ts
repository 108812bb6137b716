import type { WorkloadContext } from "../manifests/pod.ts";
import type { Manifest, RenderedFunction } from "../model/rendered.ts";

/** The objects of one function and their summary. */
export interface FunctionChildren {
  readonly children: readonly Manifest[];
  readonly rendered: RenderedFunction;
}

/** A kind of workload: Deployment, Knative Service, StatefulSet, DaemonSet, Job. */
export interface WorkloadRenderer {
  /** Whether functions of this kind can be called. */
  readonly callable: boolean;
  /** Environment variables that it sets itself. */
  readonly reservedEnv: ReadonlySet<string>;
  render(context: WorkloadContext): FunctionChildren;
}
