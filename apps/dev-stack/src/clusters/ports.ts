import type { Transport } from "@oaas/kube-runtime";
import type { LoadState } from "../load/function-load.ts";
import type { Progress } from "./progress.ts";

/** The configuration of one cluster. */
export interface ClusterPlan {
  readonly name: string;
  /** Folder for data, kubeconfig and logs. */
  readonly folder: string;
  /** 0: the port of the previous start if free, else a free port. */
  readonly apiPort: number;
  /** 0: a free port. */
  readonly managerPort: number;
  readonly nodes: number;
  /** Labels for the planner: `env` and `zone`. */
  readonly labels: Readonly<Record<string, string>>;
  /** Simulated availability, as a fraction; undefined: measured by the manager. */
  readonly availability?: number;
  /** What the registration of a simulated cluster promises, in the words of `CRM_CLUSTERS_JSON`. */
  readonly terms?: ClusterTerms;
  /** Whether its nodes run the images of functions; those of other clusters of the stack are simulated. */
  readonly runsImages?: boolean;
  /** Kubeconfig context of an existing cluster, in which the stack only installs our CRDs. */
  readonly context?: string;
}

/** The promised availability and the price of a cluster. */
export interface ClusterTerms {
  readonly availability: { readonly value: number; readonly source: string; readonly date: string };
  readonly cost: { readonly cpu_hour: number; readonly gib_hour: number; readonly currency: string };
}

/** A running cluster. */
export interface RunningCluster {
  readonly url: string;
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Context name in the kubeconfig. */
  readonly context: string;
  /** Opens a connection as administrator. */
  connect(): Transport;
  /** Reports every process of the cluster that ends before `close`. */
  onLoss(report: (loss: string) => void): void;
  /** Nodes that can fail and recover on command, if simulated in this process. */
  readonly nodes?: SimulatedNodes;
  /** Simulated requests to functions, if simulated in this process. */
  readonly load?: SimulatedLoad;
  /** Metrics of real containers. */
  readonly metrics?: ClusterMetrics;
  /** Address of the state store of a pod, if state stores run in this process. */
  readonly storeAddress?: (pod: PodName) => string | undefined;
  /** Stops the cluster gracefully. Its data stays. */
  close(): Promise<void>;
}

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Where the metrics of a cluster are. */
export interface ClusterMetrics {
  /** The HTTP API of Prometheus with the metrics of the functions. */
  readonly metricsUrl: string;
  /** Whether the cluster has a metrics API with the usage of pods, so that autoscalers act. */
  readonly servesUsage: boolean;
}

export interface SimulatedLoad extends ClusterMetrics {
  /** Raises the load of every function, or sets it back. */
  setSpike(hasSpike: boolean): void;
  /** The load of each function. */
  states(): readonly LoadState[];
}

export interface SimulatedNodes {
  readonly names: readonly string[];
  fail(name: string): Promise<void>;
  recover(name: string): Promise<void>;
}

/** Starts a simulated, real or existing cluster, and obtains missing components. */
export type StartCluster = (plan: ClusterPlan, progress: Progress) => Promise<RunningCluster>;

/** A running class runtime manager. */
export interface RunningManager {
  readonly url: string;
  /** Resolves when its caches are synced. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
  /** Stops it as kill -9 would: it makes no more changes. */
  kill(): Promise<void>;
}

/** A proxy with a constant address in front of a manager, which may restart. */
export interface Relay {
  readonly url: string;
  /** Sets the target and closes open connections; undefined rejects new ones. */
  setTarget(url: string | undefined): void;
  /** Drops all data silently. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export type StartManager = (cluster: RunningCluster) => Promise<RunningManager>;
