import type { LoadState } from "../load/function-load.ts";

/** A class as reported by its class runtime manager. */
export interface ClassState {
  readonly namespace: string;
  readonly name: string;
  /** "unseen" until the manager has reconciled it. */
  readonly phase: string;
  /** In the words of the health reference. */
  readonly condition: string;
  readonly message: string | undefined;
  /** The newest change by enforcement, for people. */
  readonly lastChange?: string;
}

/** The state of one cluster of the stack. */
export interface ClusterState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** 0 for existing clusters. */
  readonly nodes: number;
  /** Simulated availability, as a fraction. */
  readonly availability: number | undefined;
  /** failed: a process of the cluster ended, or its API server does not respond. */
  readonly state: "starting" | "running" | "failed";
  /** The current step while starting; the reason if failed. */
  readonly detail: string | undefined;
  readonly apiUrl: string | undefined;
  readonly kubeconfig: string | undefined;
  /** Context name in the kubeconfig. */
  readonly context: string;
  readonly managerUrl: string | undefined;
  /** The HTTP API of Prometheus with simulated metrics. */
  readonly metricsUrl: string | undefined;
  /** Simulated requests to functions. */
  readonly loads: readonly LoadState[];
  /** Description of the injected fault. */
  readonly broken: string | undefined;
  readonly classes: readonly ClassState[];
}
