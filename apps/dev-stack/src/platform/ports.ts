/** A cluster as the package manager gets to know it. */
export interface KnownCluster {
  readonly name: string;
  /** Of its class runtime manager. */
  readonly url: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A package manager that runs. */
export interface RunningPackageManager {
  readonly url: string;
  /** Ends it in order; what it was doing goes on after the next start. */
  close(): Promise<void>;
  /** Ends it as kill -9 would: from this moment it writes nothing any more, whatever it was doing. */
  kill(): Promise<void>;
}

/** The package manager of the stack, before it is started. */
export interface PackageManagerStarter {
  /** Refuses an address that cannot be had, before anything is started for it. */
  check(): Promise<void>;
  /** A second start, after a kill, takes the address of the first. */
  start(clusters: readonly KnownCluster[]): Promise<RunningPackageManager>;
}

/** A package and a deployment of one of its classes, as they are sent. */
export interface Example {
  readonly package: Readonly<Record<string, unknown>>;
  readonly deployment: Readonly<Record<string, unknown>>;
  /** In every cluster of the stack, whichever the deployment names. */
  readonly isEverywhere?: boolean;
}
