import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { ObservedEvent } from "./observed-event.ts";
import type { Node, Pod, Workload } from "./observed-objects.ts";
import type { Reason, Verdict } from "./reasons.ts";

/** A rendered function. */
export interface ExpectedFunction {
  readonly functionKey: string;
  /** `workload` has its own pods, `odgm` is a module in the state store, `none` does not run. */
  readonly runtime: "workload" | "odgm" | "none";
  readonly workload?: ObjectRef | undefined;
  /** Name of its Service; empty without one. */
  readonly service: string;
  /** Port of that Service; 0 without one. */
  readonly port: number;
  /** Expected URL; empty for functions that cannot be called. */
  readonly predictedUrl: string;
  /** Minimum number of pods. */
  readonly replicas?: number | undefined;
  /** What controls the number of pods, such as `knative`. */
  readonly replicasOwner?: string | undefined;
}

/** The rendered state store. */
export interface ExpectedOdgm {
  /** One, or one per node. */
  readonly workloads: readonly ObjectRef[];
  /** Host and port that functions get. */
  readonly service: string;
  /** Pods of all workloads. */
  readonly replicas: number;
  readonly clusterId?: string | undefined;
  readonly shardType?: string | undefined;
  readonly collections: readonly {
    readonly name: string;
    readonly partitionCount?: number | undefined;
    readonly replicaCount?: number | undefined;
  }[];
  /** Running workloads that cannot be updated in place and are not replaced without permission. */
  readonly held?: readonly ObjectRef[] | undefined;
  /** A change of the layout that was not applied. */
  readonly refusedLayout?: { readonly message: string } | undefined;
}

type OdgmStatus = NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>;

/** The desired state of the class, as rendered by the template. */
export interface Expected {
  readonly template: NonNullable<ClassRuntimeStatus["template"]>;
  /** All desired children. */
  readonly children: readonly KubeObject[];
  readonly functions: readonly ExpectedFunction[];
  readonly odgm?: ExpectedOdgm | undefined;
  /** Zenoh routers that its pods are configured to use. */
  readonly routers?: readonly { readonly service: string; readonly port: number }[] | undefined;
  /** Whether its pods export telemetry; absent when telemetry is not enabled for the class. */
  readonly telemetry?: "configured" | "no-endpoint" | undefined;
  /** Whether its metrics are collected, or why not; absent when they need not be. */
  readonly monitoring?:
    | { readonly state: "monitored"; readonly kind: string }
    | { readonly state: "missing-kinds"; readonly kinds: readonly string[] }
    | { readonly state: "disabled" }
    | undefined;
}

/** A failure of the reconcile itself, before or while it writes children. */
export interface Problem {
  readonly reason: Reason;
  readonly verdict: Verdict;
  readonly message: string;
  /** The affected child; absent for the class itself. */
  readonly object?: ObjectRef | undefined;
}

/** An object that the pods of a workload need and that does not exist. */
export interface MissingReference {
  readonly workload: ObjectRef;
  readonly kind: string;
  readonly name: string;
  /** The field of the pod that names it, such as `env DATABASE_URL`. */
  readonly usedBy: string;
}

/** Health of the state store, from its nodes. */
export interface OdgmReading {
  /** Whether every node has its shards, and every partition acknowledged a write in the last check. */
  readonly healthy: boolean;
  /** Why it is not healthy. */
  readonly reason?: "ShardMissing" | "NoQuorum" | "StoreUnreachable";
  readonly message?: string;
  /** Time of the check in RFC 3339. */
  readonly checkedAt: string;
  /** Further status fields, copied to the status. */
  readonly details?: Partial<OdgmStatus>;
}

/** Everything that one reconcile observed. The lifecycle depends only on it and on the previous status. */
export interface Observation {
  /** The class runtime. */
  readonly subject: ObjectRef;
  readonly generation: number;
  /** It has a deletion timestamp. */
  readonly deleting: boolean;
  /** Absent until a template is selected and rendered. */
  readonly expected?: Expected | undefined;
  readonly problems: readonly Problem[];
  /** Existing children, desired or not. */
  readonly children: readonly KubeObject[];
  /** Pods of its workloads; may be empty when all workloads are ready. */
  readonly pods: readonly Pod[];
  /** Whether `pods` has all its pods; without permission to read pods it is empty. */
  readonly arePodsKnown?: boolean;
  /** ReplicaSets of its Deployments, to find the pods of the latest revision. */
  readonly replicaSets: readonly Workload[];
  /** Nodes of its pods; empty without permission to read nodes. */
  readonly nodes: readonly Node[];
  /** Events about its children and pods. */
  readonly events: readonly ObservedEvent[];
  /** Whether state stores are checked; without checks their workloads alone decide. */
  readonly odgmChecks?: "on" | "off" | undefined;
  /** Absent while nothing is known about the state store. */
  readonly odgmReading?: OdgmReading | undefined;
  /** Why the state store restarts, or should; absent when it need not. */
  readonly odgmRestart?: NonNullable<OdgmStatus["restart"]> | undefined;
  /** Settings that its nodes read when they start. */
  readonly odgmConfiguration?: NonNullable<OdgmStatus["configuration"]> | undefined;
  /** Objects that its pods need and that do not exist; absent while the class is deleted. */
  readonly missingReferences?: readonly MissingReference[];
  /** Corrections of children to store; absent if there was none. */
  readonly driftCorrections?: ClassRuntimeStatus["drift_corrections"];
  /** Progress deadline for kinds without one in Kubernetes. Default: ten minutes. */
  readonly progressDeadlineMs?: number;
}
