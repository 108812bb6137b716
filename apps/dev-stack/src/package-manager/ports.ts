import type { ClusterTerms } from "../clusters/ports.ts";

/** A cluster as configured in the package manager. */
export interface ConfiguredCluster {
  readonly name: string;
  /** URL of its class runtime manager. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly terms?: ClusterTerms | undefined;
}

interface ClusterFault {
  readonly fault: string;
  readonly cluster: string;
}

/** Fault injection, as the package manager offers it to the console. */
export interface StackLab {
  state(): {
    readonly clusters: readonly string[];
    readonly faults: readonly { readonly fault: string; readonly title: string; readonly description: string }[];
    readonly injected: readonly ClusterFault[];
  };
  inject(fault: ClusterFault): Promise<void>;
  remove(fault: ClusterFault): Promise<void>;
  removeAll(): Promise<void>;
}

/** A running package manager. */
export interface RunningPackageManager {
  readonly url: string;
  /** Whether the console is built, and served at `/`. */
  readonly hasConsole: boolean;
  /** Stops it gracefully; open sagas resume after the next start. */
  close(): Promise<void>;
  /** Stops it as kill -9 would: it makes no more writes. */
  kill(): Promise<void>;
}

export interface PackageManagerStarter {
  /** Rejects an address in use, before anything starts. */
  check(): Promise<void>;
  /** A restart after a kill uses the same address. */
  start(clusters: readonly ConfiguredCluster[], lab?: StackLab): Promise<RunningPackageManager>;
}

/** A deployment as reported by the package manager. */
export interface DeploymentState {
  readonly key: string;
  /** The worst condition of its clusters. */
  readonly condition: string;
  readonly clusters: readonly { readonly name: string; readonly condition: string }[];
}

/** Why a deployment is in its state: one sentence, and a message per cluster. */
export interface DeploymentExplanation {
  readonly summary: string;
  readonly clusters: readonly { readonly name: string; readonly message: string }[];
}

/** The state of the package manager. */
export interface PackageManagerState {
  readonly state: "starting" | "running" | "failed";
  /** The current step while starting; the reason if failed. */
  readonly detail: string | undefined;
  readonly url: string | undefined;
  /** Undefined while the console is not built or not running. */
  readonly consoleUrl: string | undefined;
  /** Description of the injected fault. */
  readonly broken: string | undefined;
  readonly deployments: readonly DeploymentState[];
}
