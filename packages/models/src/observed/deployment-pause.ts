/** 90 days: a forgotten pause ends. */
export const MAX_PAUSE_SECONDS = 7_776_000;

/** While it lasts, nothing changes the clusters of a deployment, except its deletion. */
export interface DeploymentPause {
  readonly by: string;
  /** RFC 3339. */
  readonly at: string;
  /** RFC 3339: the pause ends by itself. */
  readonly until: string;
  readonly reason?: string;
}
