import type { ClassDeployment } from "../deployment/deployment.ts";
import type { RevisionOutcome } from "../health/condition.ts";
import type { Package } from "../package/package.ts";

/** One immutable entry of a history. */
export interface Revision {
  readonly revision: number;
  readonly digest: string;
  readonly author?: string;
  readonly reason?: string;
  /** RFC 3339. */
  readonly createdAt: string;
}

export interface PackageRevision extends Revision {
  readonly package: Package;
}

/** One entry of a deployment's history. */
export interface DeploymentRevision extends Revision {
  readonly deployment: ClassDeployment;
  readonly planDigest?: string;
  readonly outcome: RevisionOutcome;
  /** When the outcome was reached; absent while the revision is only accepted. */
  readonly outcomeAt?: string;
  /** A description of the result, by cluster. */
  readonly clusters: Readonly<Record<string, string>>;
}
