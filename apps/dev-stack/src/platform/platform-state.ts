/** A deployment as the package manager describes it. */
export interface DeploymentState {
  readonly key: string;
  /** The worst of its clusters. */
  readonly condition: string;
  readonly clusters: readonly { readonly name: string; readonly condition: string }[];
}

/** How the package manager of the stack is, as far as it can be known now. */
export interface PackageManagerState {
  readonly state: "starting" | "running" | "failed";
  /** While starting: what it waits for. Failed: why. */
  readonly detail: string | undefined;
  readonly url: string | undefined;
  /** What was broken on purpose, in words. */
  readonly broken: string | undefined;
  readonly deployments: readonly DeploymentState[];
}
