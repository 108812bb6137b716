import { z } from "zod";
import { input, optional, text, view, whole } from "../fields.ts";
import { classDeploymentView } from "./class-deployment.ts";
import { packageView } from "./package.ts";

const revisionMembers = {
  revision: z.int(),
  digest: z.string(),
  author: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.string(),
};

const REVISION = {
  revision: "Its number, counted from 1.",
  digest: "Stands for exactly this content.",
  author: "Who made it; null when that is not known.",
  reason: "Why, as the author said; null when nothing was said.",
  created_at: "When it was made.",
};

const PACKAGE_REVISION = {
  ...REVISION,
  digest:
    "Stands for exactly this content: `sha256:` and the digits, over the package in canonical JSON (RFC 8785) without `created_at` and `updated_at`.",
};

/** One immutable revision, without its content. */
export const revisionView = view(revisionMembers, PACKAGE_REVISION);

/** One immutable revision of a package. */
export const packageRevisionView = view(
  { ...revisionMembers, package: packageView },
  { ...PACKAGE_REVISION, package: "The package as it was." },
);

/** One entry of a deployment's history: the wish, the plan it led to, and what came of it in each cluster. */
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
    deployment: "The wish.",
    plan_digest: "Stands for the plan it led to; null when there was none.",
    outcome: "What came of it.",
    clusters: "What came of it, by cluster.",
  },
);

/** One difference, by JSON path. */
export const changeView = view(
  {
    path: z.string(),
    change: z.enum(["added", "removed", "changed"]),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  },
  {
    path: "JSONPath of the member.",
    change: "What became of it.",
    before: "Its value before; absent when it was added.",
    after: "Its value after; absent when it was removed.",
  },
);

/** What differs between two revisions. */
export const diffView = view(
  { from: z.int(), to: z.int(), changes: z.array(changeView) },
  {
    from: "The earlier revision.",
    to: "The later revision.",
    changes: "What differs, member by member; empty when nothing does.",
  },
);

/** Which revision to go back to, and why. */
export const rollbackInput = input(
  {
    revision: whole({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    reason: optional(text()),
  },
  { revision: "The revision to go back to.", reason: "Why; kept in the history." },
);
