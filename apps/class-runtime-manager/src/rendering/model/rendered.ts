import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import type { Result, Violation } from "@oaas/foundation";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { ShardType } from "@oaas/models";
import type { ClusterFacts, Environment, Router } from "./cluster-facts.ts";
import type { TelemetryState } from "../manifests/telemetry-env.ts";

/** The object a class is described by; every child names it as its owner. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** Labels of the object, which selection criteria of user templates may ask for. */
  readonly labels?: Readonly<Record<string, string>>;
}

/** All that a template may know. Rendering is a function of it: no clock, no environment variables, no reads. */
export interface RenderInput {
  readonly owner: Owner;
  /** The class. A DeploymentRecord is mapped to this form first. */
  readonly spec: ClassRuntimeSpec;
  readonly environment?: Environment;
  readonly cluster: ClusterFacts;
  /**
   * Child names given earlier, by function key (`status.functions[].service`, or the `oaas.io/function-key` annotation
   * of what is there). A function keeps its name for life, whatever is added, removed or moved around it.
   */
  readonly assignedNames?: ReadonlyMap<string, string>;
}

/** A complete manifest, without members that are undefined. */
export type Manifest = KubeObject & { readonly [member: string]: unknown };

/** A pointer to a rendered workload, by which readiness is read. */
export type WorkloadRef = Required<Pick<ObjectRef, "apiVersion" | "kind" | "namespace" | "name">>;

/** Where a function runs: as a workload of its own, as a module in the data grid, or nowhere (it is only a name). */
export type FunctionRuntime = "workload" | "odgm" | "none";

/** Who decides about the number of pods: the template, an autoscaler it rendered, Knative, or the nodes there are. */
export type ReplicasOwner = "template" | "autoscaler" | "knative" | "nodes";

/** What became of one function. */
export interface RenderedFunction {
  readonly functionKey: string;
  readonly runtime: FunctionRuntime;
  readonly workload?: WorkloadRef;
  /** Service in front of it; empty when it has none. */
  readonly service: string;
  /** Port of that Service; 0 when it has none. */
  readonly port: number;
  /** Where it will answer; empty when it cannot be called (a job, a name only). */
  readonly predictedUrl: string;
  /** Pods wanted at least; absent for one per node. */
  readonly replicas?: number;
  readonly maxReplicas?: number;
  readonly replicasOwner: ReplicasOwner;
}

/** What became of the state store. */
export interface RenderedOdgm {
  /** One, or one per node when Package Manager fixed several node ids for this cluster. */
  readonly workloads: readonly WorkloadRef[];
  /** Host and port as functions are told; the Service has exactly this port. */
  readonly service: string;
  readonly replicas: number;
  readonly clusterId: string;
  /** Of the first collection. */
  readonly shardType: ShardType;
  readonly collections: readonly {
    readonly name: string;
    readonly partitionCount: number;
    readonly replicaCount: number;
    readonly shardType: ShardType;
  }[];
}

/** A class as it will be in the cluster. */
export interface Rendered {
  /** Id of the template that was used. */
  readonly template: string;
  /** Revision of a user template, absent for built-in ones. */
  readonly revision?: string;
  /** In the order in which they should be applied; the same input gives the same list. */
  readonly children: readonly Manifest[];
  readonly functions: readonly RenderedFunction[];
  readonly odgm?: RenderedOdgm;
  /** Zenoh routers that its pods are configured to use; absent when the namespace has none. */
  readonly routers?: readonly Router[];
  readonly telemetry?: TelemetryState;
  /** What was accepted and will not work as the user may think; never a reason to refuse. */
  readonly warnings: readonly Violation[];
}

/** What speaks for a template, or why it cannot serve this class here. */
export interface TemplateScore {
  /** False: it must not be used, not even by name. */
  readonly eligible: boolean;
  readonly score: number;
  readonly because: readonly string[];
}

/** A way to run a class. */
export interface Template {
  readonly id: string;
  readonly aliases: readonly string[];
  /** Taken only when a class or its environment names it; never by its score. */
  readonly byNameOnly: boolean;
  /** Revision of a user template: another one renders other children. */
  readonly revision?: string;
  score(input: RenderInput): TemplateScore;
  render(input: RenderInput): Result<Rendered, readonly Violation[]>;
}
