import type { Violation } from "@oaas/foundation";
import type { PodSettings } from "@oaas/models";
import type { WorkloadContext } from "../manifests/pod.ts";
import type { ScalingFacts } from "../model/cluster-facts.ts";
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
  /** Pod settings that this kind cannot have; paths start at `provision_config`. */
  podViolations?(settings: PodSettings): readonly Violation[];
  /** Why functions of this kind cannot scale to zero in this cluster; undefined if they can. */
  whyNotToZero(cluster: ScalingFacts): string | undefined;
  render(context: WorkloadContext): FunctionChildren;
}
