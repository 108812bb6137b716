import type { Violation } from "@oaas/foundation";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { ShardType } from "@oaas/models";
import type { Limit } from "@oaas/nfr";
import type { Router } from "./cluster-facts.ts";

/** Whether pods get the OpenTelemetry variables, for a class that has telemetry enabled. */
export type TelemetryState = "configured" | "no-endpoint";

/** A complete manifest without undefined members. */
export type Manifest = KubeObject & { readonly [member: string]: unknown };

/** Reference to a rendered workload. */
export type WorkloadRef = Required<Pick<ObjectRef, "apiVersion" | "kind" | "namespace" | "name">>;

/** Where a function runs: in its own workload, as a module in the state store, or nowhere. */
export type FunctionRuntime = "workload" | "odgm" | "none";

/** What controls the replicas: the template, a rendered autoscaler, Knative, KEDA, or the number of nodes. */
export type ReplicasOwner = "template" | "autoscaler" | "knative" | "keda" | "nodes";

/** The `resources` of a container. */
export interface ContainerResources {
  readonly requests: Readonly<Record<string, string>>;
  readonly limits: Readonly<Record<string, string>>;
}

/** The resources of the function container. */
export interface FunctionResources {
  /** In the pod template. */
  readonly template: ContainerResources;
  /** In running pods: other ones than in the template when enforcement resizes pods in place. */
  readonly running: ContainerResources;
}

/** A rendered function. */
export interface RenderedFunction {
  readonly functionKey: string;
  readonly runtime: FunctionRuntime;
  readonly workload?: WorkloadRef;
  /** Name of its Service; empty without one. */
  readonly service: string;
  /** Port of that Service; 0 without one. */
  readonly port: number;
  /** Expected URL; empty for functions that cannot be called. */
  readonly predictedUrl: string;
  /** Minimum number of pods; absent for one per node. */
  readonly replicas?: number;
  readonly maxReplicas?: number;
  readonly replicasOwner: ReplicasOwner;
  /** The replicas that enforcement may choose; absent where their number is fixed. */
  readonly replicaLimits?: { readonly min: Limit; readonly max?: Limit };
  /** The maximum of the autoscaler that the class states, and the most that enforcement may raise it to. */
  readonly maximumLimits?: { readonly min: Limit; readonly max: Limit };
  /** Why their number is fixed, where a user template fixes it. */
  readonly whyReplicasFixed?: string;
  /** Absent where a user template states its own, and for jobs. */
  readonly resources?: FunctionResources;
}

/** A change of the layout of a running state store that was not applied, because objects would be lost. */
export interface RefusedLayout {
  /** What would change and be lost, with the fix. */
  readonly message: string;
  /** The same for the changes that the class itself states; absent when only its environment or template differs. */
  readonly stated?: string;
}

/** The rendered state store. */
export interface RenderedOdgm {
  /** One, or one per node when the package manager fixed several node ids for this cluster. */
  readonly workloads: readonly WorkloadRef[];
  /** Running workloads that cannot be updated in place and stay as they are, because their pods would be replaced. */
  readonly held: readonly WorkloadRef[];
  /** Running workloads that are deleted before the others are applied. */
  readonly replaced: readonly WorkloadRef[];
  readonly refusedLayout?: RefusedLayout;
  /** Whether it keeps the layout of a running one. */
  readonly isRunning: boolean;
  /** Host and port that functions get; the Service has this port. */
  readonly service: string;
  readonly replicas: number;
  readonly clusterId: string;
  /** Shard type of the first collection. */
  readonly shardType: ShardType;
  readonly collections: readonly {
    readonly name: string;
    readonly partitionCount: number;
    readonly replicaCount: number;
    readonly shardType: ShardType;
  }[];
}

/**
 * Whether the metrics of a class are collected by monitors of the Prometheus operator, or why not: the cluster serves
 * none of the kinds, or metrics are disabled although the class needs them.
 */
export type MonitoringState =
  | { readonly state: "monitored"; readonly kind: string }
  | { readonly state: "missing-kinds"; readonly kinds: readonly string[] }
  | { readonly state: "disabled" };

/** A rendered class. */
export interface Rendered {
  /** Id of the template. */
  readonly template: string;
  /** Revision of a user template; absent for built-in templates. */
  readonly revision?: string;
  /** In apply order; equal input renders an equal list. */
  readonly children: readonly Manifest[];
  readonly functions: readonly RenderedFunction[];
  readonly odgm?: RenderedOdgm;
  /** Zenoh routers that its pods are configured to use; absent when the namespace has none. */
  readonly routers?: readonly Router[];
  readonly telemetry?: TelemetryState;
  readonly monitoring?: MonitoringState;
  /** Accepted settings that do not work as stated; they never cause a rejection. */
  readonly warnings: readonly Violation[];
}
