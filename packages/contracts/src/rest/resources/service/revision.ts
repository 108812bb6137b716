import { z } from "zod";
import { input, optional, readText, view, readInteger } from "../../reading/fields.ts";
import { classDeploymentView } from "../deployment/class-deployment.ts";
import { packageView } from "../package/package.ts";

const revisionMembers = {
  revision: z.int(),
  digest: z.string(),
  author: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.string(),
};

const REVISION = {
  revision: "Revision number, starting at 1.",
  digest: "Digest of the content.",
  author: "Author of the change; null when unknown.",
  reason: "Reason given by the author; null if none.",
  created_at: "Creation time.",
};

const PACKAGE_REVISION = {
  ...REVISION,
  digest:
    "Digest of the content: `sha256:` and the hash of the package in canonical JSON (RFC 8785), without `created_at` and `updated_at`.",
};

/** Metadata of one immutable revision. */
export const revisionView = view(revisionMembers, PACKAGE_REVISION);

/** One immutable revision of a package. */
export const packageRevisionView = view(
  { ...revisionMembers, package: packageView },
  { ...PACKAGE_REVISION, package: "Package at this revision." },
);

/** One revision of a deployment: the desired state, the plan and the outcome per cluster. */
export const deploymentRevisionView = view(
  {
    ...revisionMembers,
    deployment: classDeploymentView,
    plan_digest: z.string().nullable(),
    outcome: z.enum(["running", "succeeded", "failed", "compensated", "cancelled"]),
    clusters: z.record(z.string(), z.string()),
  },
  {
    ...REVISION,
    deployment: "Deployment at this revision.",
    plan_digest: "Digest of the resulting plan; null if none.",
    outcome: "Outcome.",
    clusters: "Outcome by cluster.",
  },
);

/** One difference. */
export const changeView = view(
  {
    path: z.string(),
    change: z.enum(["added", "removed", "changed"]),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  },
  {
    path: "JSONPath of the field.",
    change: "Kind of change.",
    before: "Value before the change; absent when added.",
    after: "Value after the change; absent when removed.",
  },
);

/** The differences between two revisions. */
export const diffView = view(
  { from: z.int(), to: z.int(), changes: z.array(changeView) },
  {
    from: "Earlier revision.",
    to: "Later revision.",
    changes: "Changed fields; empty when the revisions are equal.",
  },
);

/** The revision to restore and the reason. */
export const rollbackInput = input(
  {
    revision: readInteger({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    reason: optional(readText()),
  },
  { revision: "Revision to restore.", reason: "Reason; stored in the history." },
);
