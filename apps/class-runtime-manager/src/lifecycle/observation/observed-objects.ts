import type { KubeObject, LabelSelector } from "@oaas/kube-core";

/*
 * The observed fields of Kubernetes objects. Every field may be absent: a new object has no status, and caches may trim
 * fields.
 */

/** A condition of a Kubernetes kind. */
export interface ObservedCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** A kind that runs pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job or Knative Service. */
export interface Workload extends KubeObject {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly paused?: boolean;
    readonly suspend?: boolean;
    readonly parallelism?: number;
    readonly completions?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number };
    };
  };
  readonly status?: WorkloadStatus;
}

/** Status fields of these kinds; each kind has a subset. */
export interface WorkloadStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly ObservedCondition[];
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly desiredNumberScheduled?: number;
  readonly updatedNumberScheduled?: number;
  readonly numberAvailable?: number;
  readonly numberReady?: number;
  readonly active?: number;
  readonly ready?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly url?: string;
  readonly latestCreatedRevisionName?: string;
  readonly latestReadyRevisionName?: string;
}

/** Current or last state of a container. */
export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode?: number;
    readonly signal?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly finishedAt?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly image?: string;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
  /** In effect; they follow the spec after a resize. */
  readonly resources?: ObservedResources;
}

/** Requests and limits of a container. */
export interface ObservedResources {
  readonly requests?: Readonly<Record<string, string | number>>;
  readonly limits?: Readonly<Record<string, string | number>>;
}

export interface Pod extends KubeObject {
  readonly spec?: {
    readonly nodeName?: string;
    readonly restartPolicy?: string;
    readonly readinessGates?: readonly { readonly conditionType: string }[];
    readonly containers?: readonly { readonly name: string; readonly resources?: ObservedResources }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly ObservedCondition[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly conditions?: readonly ObservedCondition[];
    readonly allocatable?: Readonly<Record<string, string>>;
  };
}

/** An Event of the core group or of events.k8s.io. */
export interface EventObject extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly message?: string;
  readonly regarding?: EventSubject;
  readonly involvedObject?: EventSubject;
  readonly count?: number;
  readonly deprecatedCount?: number;
  readonly eventTime?: string | null;
  readonly firstTimestamp?: string | null;
  readonly lastTimestamp?: string | null;
  readonly deprecatedLastTimestamp?: string | null;
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
}

interface EventSubject {
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
}

/** The condition of this type, if present. */
export function conditionIn(
  conditions: readonly ObservedCondition[] | undefined,
  type: string,
): ObservedCondition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Compares by code units, independent of the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
