import type { Violation } from "@oaas/foundation";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { ShardType } from "@oaas/models";
import type { Router } from "./cluster-facts.ts";

/** Whether pods get the OpenTelemetry variables, for a class that has telemetry enabled. */
export type TelemetryState = "configured" | "no-endpoint";

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
