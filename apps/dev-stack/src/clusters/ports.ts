import type { Transport } from "@oaas/kube-runtime";

/** One cluster of the stack, as it is to be. */
export interface ClusterPlan {
  readonly name: string;
  /** Everything of the cluster lives here: data, kubeconfig, logs. */
  readonly folder: string;
  /** 0: that of the last start, else a free one. */
  readonly apiPort: number;
  /** 0: a free one. */
  readonly managerPort: number;
  readonly nodes: number;
  /** What kind of cluster it is, for those who choose among clusters: `env` and `zone`. */
  readonly labels: Readonly<Record<string, string>>;
  /** The share of time a simulated cluster says it is up; undefined: as its manager measures it. */
  readonly availability?: number;
  /** The context of a kubeconfig whose cluster this is: somebody's own, in which only our kinds are installed. */
  readonly context?: string;
}

/** A cluster that runs. */
export interface RunningCluster {
  readonly url: string;
  /** Path of a kubeconfig of its administrator. */
  readonly kubeconfig: string;
  /** What that kubeconfig calls it. */
  readonly context: string;
  /** A new connection to it, as that administrator. */
  connect(): Transport;
  /** Tells of each of its programs that ends before `close`. */
  onLoss(tell: (loss: string) => void): void;
  /** Nodes that can be lost and found on command, where they are simulated in this process. */
  readonly nodes?: SimulatedNodes;
  /** Ends its programs in order; what it holds is found again by the next start. */
  close(): Promise<void>;
}

export interface SimulatedNodes {
  readonly names: readonly string[];
  lose(name: string): Promise<void>;
  find(name: string): Promise<void>;
}

/** Starts a cluster, obtaining what it takes, and says how it goes. Simulated, real and existing ones have the same face. */
export type StartCluster = (plan: ClusterPlan, progress: Progress) => Promise<RunningCluster>;

/** A class runtime manager that runs. */
export interface RunningManager {
  readonly url: string;
  /** Resolves when it has seen everything there is. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
  /** Ends it as kill -9 would: from this moment it changes nothing any more, whatever it was doing. */
  kill(): Promise<void>;
}

/** How the package manager reaches a manager: an address that stays, though the manager behind it may come and go. */
export interface Relay {
  readonly url: string;
  /** Where it leads from now on; undefined: nobody is there. Connections that were open end. */
  leadTo(url: string | undefined): void;
  /** Nothing gets through any more, and nobody is told. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Starts the manager of a cluster. */
export type StartManager = (cluster: RunningCluster) => Promise<RunningManager>;

/** Where a start says how it goes. */
export interface Progress {
  /** What is being done now; the next word replaces it. */
  now(step: string): void;
  /** Something to be read in peace; stays. */
  note(text: string): void;
}
