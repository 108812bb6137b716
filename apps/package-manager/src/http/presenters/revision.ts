import {
  classDeploymentToWire,
  type deploymentRevisionView,
  type diffView,
  type revisionView,
} from "@oaas/contracts/rest";
import { DeploymentCondition } from "@oaas/models";
import type { z } from "zod";
import type { DeploymentRevision, Diff, Revision } from "../../use-cases.ts";

/** An entry of a history, without its content. */
export function revisionToWire(revision: Revision): z.output<typeof revisionView> {
  return {
    revision: revision.revision,
    digest: revision.digest,
    author: revision.author ?? null,
    reason: revision.reason ?? null,
    created_at: revision.createdAt,
  };
}

/** An entry of a deployment's history. */
export function deploymentRevisionToWire(revision: DeploymentRevision): z.output<typeof deploymentRevisionView> {
  const { deployment, planDigest, outcome, clusters } = revision;
  return {
    ...revisionToWire(revision),
    deployment: classDeploymentToWire({ deployment, condition: DeploymentCondition.unknown }),
    plan_digest: planDigest ?? null,
    outcome,
    clusters,
  };
}

export function diffToWire({ from, to, changes }: Diff): z.output<typeof diffView> {
  return { from, to, changes: changes.map((change) => ({ ...change })) };
}
