import { z } from "zod";
import { object, optional, text, view, whole } from "../fields.ts";
import { classDeploymentView } from "./class-deployment.ts";
import { packageView } from "./package.ts";

const revisionMembers = {
  revision: z.int(),
  digest: z.string(),
  author: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.string(),
};

/** One immutable revision, without its content. */
export const revisionView = view(revisionMembers);

/** One immutable revision of a package. */
export const packageRevisionView = view({ ...revisionMembers, package: packageView });

/** One entry of a deployment's history: the wish, the plan it led to, and what came of it in each cluster. */
export const deploymentRevisionView = view({
  ...revisionMembers,
  deployment: classDeploymentView,
  plan_digest: z.string().nullable(),
  outcome: z.enum(["running", "succeeded", "failed", "compensated", "cancelled"]),
  clusters: z.record(z.string(), z.string()),
});

/** What differs between two revisions, one change per JSON path. */
export const diffView = view({
  from: z.int(),
  to: z.int(),
  changes: z.array(
    view({
      path: z.string(),
      change: z.enum(["added", "removed", "changed"]),
      before: z.unknown().optional(),
      after: z.unknown().optional(),
    }),
  ),
});

/** Which revision to go back to, and why. */
export const rollbackInput = object({
  revision: whole({ min: 1, max: Number.MAX_SAFE_INTEGER }),
  reason: optional(text()),
});
