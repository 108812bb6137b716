import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import type { ObservedEvent } from "./observed-event.ts";
import type { Node, Pod, Workload } from "./observed-objects.ts";
import type { Reason, Verdict } from "./reasons.ts";

/** One function as it was rendered. */
export interface ExpectedFunction {
  readonly functionKey: string;
  /** `workload` has pods of its own, `odgm` is a module inside the state store, `none` needs nothing to run. */
  readonly runtime: "workload" | "odgm" | "none";
  readonly workload?: ObjectRef | undefined;
  /** Service in front of it; empty for what has none. */
  readonly service: string;
  /** Port of that Service; 0 when it has none. */
  readonly port: number;
  /** Where it will answer; empty when it cannot be called. */
  readonly predictedUrl: string;
  readonly replicas?: number | undefined;
}

/** The state store as it was rendered. */
export interface ExpectedOdgm {
  /** One, or one per node of the grid. */
  readonly workloads: readonly ObjectRef[];
  /** Host and port that functions are given. */
  readonly service: string;
  /** Pods of all workloads together. */
  readonly replicas: number;
  readonly clusterId?: string | undefined;
  readonly shardType?: string | undefined;
  readonly collections: readonly {
    readonly name: string;
    readonly partitionCount?: number | undefined;
    readonly replicaCount?: number | undefined;
  }[];
}

type OdgmStatus = NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>;

/** What the class should consist of, as the template rendered it. */
export interface Expected {
  readonly template: NonNullable<ClassRuntimeStatus["template"]>;
  /** Every child that should be there. */
  readonly children: readonly KubeObject[];
  readonly functions: readonly ExpectedFunction[];
  readonly odgm?: ExpectedOdgm | undefined;
  /** Zenoh routers that its pods are configured to use. */
  readonly routers?: readonly { readonly service: string; readonly port: number }[] | undefined;
  /** Whether its pods export telemetry; absent when telemetry is not enabled for the class. */
  readonly telemetry?: "configured" | "no-endpoint" | undefined;
}

/** Something that went wrong in the pass itself, before or while children were written. */
export interface Problem {
  readonly reason: Reason;
  readonly verdict: Verdict;
  readonly message: string;
  /** The child it is about; absent when it is about the class. */
  readonly object?: ObjectRef | undefined;
}

/** What the state store says of itself over its own API. */
export interface OdgmReading {
  /** Whether it serves every shard it should. */
  readonly healthy: boolean;
  readonly message?: string;
  /** When it was asked, RFC 3339. */
  readonly checkedAt: string;
  /** Everything else it told; taken into status as it is. */
  readonly details?: Partial<OdgmStatus>;
}

/**
 * Everything one pass has read. The lifecycle decides from it and the previous status alone, so that the same
 * observation always gives the same answer.
 */
export interface Observation {
  /** The class runtime itself. */
  readonly subject: ObjectRef;
  readonly generation: number;
  /** It has a deletion timestamp. */
  readonly deleting: boolean;
  /** Absent until a template has been chosen and rendered. */
  readonly expected?: Expected | undefined;
  readonly problems: readonly Problem[];
  /** Children that are there, wanted or not. */
  readonly children: readonly KubeObject[];
  /** Pods of its workloads. Looked at only for workloads that are not ready; may be empty when all are. */
  readonly pods: readonly Pod[];
  /** ReplicaSets of its Deployments, to tell pods of the current roll-out from those of the last. */
  readonly replicaSets: readonly Workload[];
  /** Nodes its pods are on; empty when they may not be read. */
  readonly nodes: readonly Node[];
  /** Events about its children and pods. */
  readonly events: readonly ObservedEvent[];
  /** Absent when ODGM is not asked; then its workload alone decides. */
  readonly odgmReading?: OdgmReading | undefined;
  /** How long pods may take to become ready where Kubernetes has no deadline of its own. Default ten minutes. */
  readonly progressDeadlineMs?: number;
}
