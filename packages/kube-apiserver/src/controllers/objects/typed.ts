import type { IntOrString, KubeObject, LabelSelector, ObjectMeta } from "@oaas/kube-core";

/**
 * The fields that the controllers read of each kind. Objects come from the server, so defaulted fields (strategies,
 * replica counts) are present; others are optional here.
 */
export type Texts = Readonly<Record<string, string>>;
/** Amounts by resource; JSON may have numbers where Kubernetes writes strings. */
export type Amounts = Readonly<Record<string, string | number>>;

/** A condition of a workload; times and texts differ from kind to kind. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
  readonly lastUpdateTime?: string;
  readonly lastProbeTime?: string | null;
  readonly lastHeartbeatTime?: string;
  readonly severity?: string;
  readonly observedGeneration?: number;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly timeAdded?: string;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface Node extends KubeObject {
  readonly spec?: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[]; readonly podCIDR?: string };
  readonly status?: {
    readonly capacity?: Amounts;
    readonly allocatable?: Amounts;
    readonly conditions?: readonly Condition[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly nodeInfo?: { readonly kubeletVersion?: string };
  };
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
  readonly hostPort?: number;
}

export interface ContainerResources {
  readonly requests?: Amounts;
  readonly limits?: Amounts;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly ContainerPort[];
  readonly resources?: ContainerResources;
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[];
  readonly readinessProbe?: object;
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: object }[];
}

export interface NodeSelectorRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeSelectorRequirement[];
  readonly matchFields?: readonly NodeSelectorRequirement[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly namespaces?: readonly string[];
  readonly topologyKey: string;
}

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
    readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
      readonly weight: number;
      readonly preference: NodeSelectorTerm;
    }[];
  };
  readonly podAffinity?: PodAffinity;
  readonly podAntiAffinity?: PodAffinity;
}

export interface PodAffinity {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[];
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly weight: number;
    readonly podAffinityTerm: PodAffinityTerm;
  }[];
}

export interface TopologySpread {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway";
  readonly labelSelector?: LabelSelector;
}

export interface PodVolume {
  readonly name: string;
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly nodeSelector?: Texts;
  readonly affinity?: Affinity;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly TopologySpread[];
  readonly containers?: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes?: readonly PodVolume[];
  readonly restartPolicy?: string;
  readonly priority?: number;
  readonly hostNetwork?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly schedulerName?: string;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
}

export interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt?: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}

export interface ContainerStatus {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly containerID?: string;
  /** The requests that the node granted. */
  readonly allocatedResources?: Amounts;
  /** The resources in effect. */
  readonly resources?: ContainerResources;
}

export interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly qosClass?: string;
  readonly nominatedNodeName?: string;
}

export interface Pod extends KubeObject {
  readonly spec?: PodSpec;
  readonly status?: PodStatus;
}

export interface PodTemplate {
  readonly metadata?: ObjectMeta;
  readonly spec?: PodSpec;
}

/** The common fields of workloads. */
export interface Workload extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly selector?: LabelSelector; readonly template?: PodTemplate };
}

export interface ReplicaSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaSetStatus;
}

export interface ReplicaSetStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

export interface Deployment extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly selector?: LabelSelector;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: IntOrString; readonly maxUnavailable?: IntOrString };
    };
    readonly template: PodTemplate;
  };
  readonly status?: DeploymentStatus;
}

export interface DeploymentStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly unavailableReplicas?: number;
  readonly terminatingReplicas?: number;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

export interface Claim extends KubeObject {
  readonly spec?: {
    readonly accessModes?: readonly string[];
    readonly resources?: { readonly requests?: Amounts };
    readonly storageClassName?: string;
    readonly volumeName?: string;
    readonly volumeMode?: string;
  };
  readonly status?: { readonly phase?: string };
}

export interface StatefulSet extends KubeObject {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly revisionHistoryLimit?: number;
    readonly ordinals?: { readonly start?: number };
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly Claim[];
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
    readonly updateStrategy?: { readonly type?: string; readonly rollingUpdate?: { readonly partition?: number } };
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly availableReplicas?: number;
    readonly currentReplicas?: number;
    readonly updatedReplicas?: number;
    readonly currentRevision?: string;
    readonly updateRevision?: string;
    readonly collisionCount?: number;
  };
}

export interface DaemonSet extends KubeObject {
  readonly spec: {
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: IntOrString };
    };
  };
  readonly status?: object;
}

export interface ControllerRevision extends KubeObject {
  readonly data?: { readonly spec?: { readonly template?: PodTemplate } };
  readonly revision: number;
}

export interface Job extends KubeObject {
  readonly spec: {
    readonly completions?: number;
    readonly parallelism?: number;
    readonly backoffLimit?: number;
    readonly completionMode?: string;
    readonly activeDeadlineSeconds?: number;
    readonly ttlSecondsAfterFinished?: number;
    readonly suspend?: boolean;
    readonly selector?: LabelSelector;
    readonly template: PodTemplate;
  };
  readonly status?: JobStatus;
}

export interface JobStatus {
  readonly active?: number;
  readonly ready?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly conditions?: readonly Condition[];
  readonly completedIndexes?: string;
  readonly uncountedTerminatedPods?: object;
}

export interface CronJob extends KubeObject {
  readonly spec: {
    readonly schedule: string;
    readonly timeZone?: string;
    readonly startingDeadlineSeconds?: number | null;
    readonly concurrencyPolicy?: string;
    readonly suspend?: boolean;
    readonly successfulJobsHistoryLimit?: number;
    readonly failedJobsHistoryLimit?: number;
    readonly jobTemplate: {
      readonly metadata?: { readonly labels?: Texts; readonly annotations?: Texts };
      readonly spec: Job["spec"];
    };
  };
  readonly status?: CronJobStatus;
}

export interface CronJobStatus {
  readonly active?: readonly { readonly name: string; readonly uid: string }[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: IntOrString;
  readonly appProtocol?: string;
}

export interface Service extends KubeObject {
  readonly spec?: {
    readonly type?: string;
    readonly clusterIP?: string;
    readonly selector?: Texts;
    readonly ports?: readonly ServicePort[];
    readonly publishNotReadyAddresses?: boolean;
  };
}

export interface Budget extends KubeObject {
  readonly spec?: {
    readonly minAvailable?: IntOrString;
    readonly maxUnavailable?: IntOrString;
    readonly selector?: LabelSelector;
    readonly unhealthyPodEvictionPolicy?: string;
  };
  readonly status?: {
    readonly observedGeneration?: number;
    readonly disruptedPods?: Texts;
    readonly disruptionsAllowed?: number;
    readonly currentHealthy?: number;
    readonly desiredHealthy?: number;
    readonly expectedPods?: number;
    readonly conditions?: readonly Condition[];
  };
}

export interface Quota extends KubeObject {
  readonly spec?: { readonly hard?: Amounts };
  readonly status?: { readonly hard?: Amounts; readonly used?: Amounts };
}

export interface Namespace extends KubeObject {
  readonly spec?: { readonly finalizers?: readonly string[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly Condition[] };
}
