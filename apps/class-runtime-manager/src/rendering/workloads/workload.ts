import type { ClassPlan, FunctionPlan } from "../plan/class-plan.ts";
import type { Env } from "../manifests/env.ts";
import type { Manifest, RenderedFunction } from "../model/rendered.ts";

/** What a workload maker gets about one function. */
export interface WorkloadContext {
  readonly plan: ClassPlan;
  readonly fn: FunctionPlan;
  /** All variables of the container, the user's own on top. */
  readonly env: Env;
  /** Addresses to wait for before the function starts. */
  readonly waitFor: readonly { readonly host: string; readonly port: number }[];
}

/** One function as objects, and how to speak of it. */
export interface FunctionChildren {
  readonly children: readonly Manifest[];
  readonly rendered: RenderedFunction;
}

/** A kind of workload: Deployment, Knative Service, StatefulSet, DaemonSet, Job. */
export interface WorkloadMaker {
  /** Whether functions of this kind can be called. */
  readonly callable: boolean;
  /** Variables that it sets itself. */
  readonly reservedEnv: ReadonlySet<string>;
  make(context: WorkloadContext): FunctionChildren;
}
