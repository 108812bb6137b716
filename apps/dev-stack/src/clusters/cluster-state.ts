/** A class as its manager describes it. */
export interface ClassState {
  readonly namespace: string;
  readonly name: string;
  /** "unseen" until its manager has looked at it. */
  readonly phase: string;
  readonly message: string | undefined;
}

/** How one cluster of the stack is, as far as it can be known now. */
export interface ClusterState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** 0 when they are not the stack's to say. */
  readonly nodes: number;
  /** The share of time it says it is up, where that is simulated. */
  readonly availability: number | undefined;
  /** failed: it ran, and a program of it ended or it no longer answers. */
  readonly state: "starting" | "running" | "failed";
  /** While starting: what is being done. Failed: why. */
  readonly detail: string | undefined;
  readonly apiUrl: string | undefined;
  readonly kubeconfig: string | undefined;
  /** What that kubeconfig calls it. */
  readonly context: string;
  readonly managerUrl: string | undefined;
  /** What was broken on purpose, in words. */
  readonly broken: string | undefined;
  readonly classes: readonly ClassState[];
}
