import type { DeploymentRevision, PackageRevision, Revision } from "@oaas/models";
import { z } from "zod";
import { field, input, optional, readInteger, readText, view } from "../../reading/fields.ts";
import {
  integer,
  map,
  nested,
  nullable,
  optional as optionalField,
  required,
  resource,
  string,
  timestamp,
} from "../../reading/resource.ts";
import { desiredDeployment } from "../deployment/class-deployment.ts";
import { revisionOutcome } from "../deployment/health.ts";
import { packageDefinition } from "../package/package.ts";

const REVISION_RANGE = { min: 1, max: Number.MAX_SAFE_INTEGER };

const revisionProperties = (digest: string) => ({
  revision: required("revision", "Revision number, starting at 1.", integer(REVISION_RANGE)),
  digest: required("digest", digest, string()),
  author: nullable("author", "Author of the change; null when unknown.", string()),
  reason: nullable("reason", "Reason given by the author; null if none.", string()),
  createdAt: required("created_at", "Creation time.", timestamp()),
});

const packageRevisionProperties = revisionProperties(
  "Digest of the content: `sha256:` and the hash of the package in canonical JSON (RFC 8785), without `created_at` and `updated_at`.",
);

/** Metadata of one immutable revision. */
const revision = resource<Revision>()(packageRevisionProperties);
export const revisionView = revision.view;
export const revisionToWire = revision.toJson;

/** One immutable revision of a package. */
const packageRevision = resource<PackageRevision>()({
  ...packageRevisionProperties,
  package: required("package", "Package at this revision.", nested(packageDefinition)),
});
export const packageRevisionView = packageRevision.view;
export const packageRevisionToWire = packageRevision.toJson;

/** One revision of a deployment: the desired state, the plan and the outcome per cluster. */
const deploymentRevision = resource<DeploymentRevision>()({
  ...revisionProperties("Digest of the content."),
  deployment: required("deployment", "Deployment at this revision.", desiredDeployment),
  planDigest: nullable("plan_digest", "Digest of the resulting plan; null if none.", string()),
  outcome: required("outcome", "Outcome, in the words of the health reference.", revisionOutcome),
  outcomeAt: optionalField(
    "outcome_at",
    "When the outcome was reached; absent while the revision is only accepted.",
    timestamp(),
  ),
  clusters: required("clusters", "Outcome by cluster.", map(string())),
});
export const deploymentRevisionView = deploymentRevision.view;
export const deploymentRevisionToWire = deploymentRevision.toJson;

/** One difference. */
const changeFields = {
  path: field("JSONPath of the field.", z.string()),
  change: field("Kind of change.", z.enum(["added", "removed", "changed"])),
  before: field("Value before the change; absent when added.", z.unknown().optional()),
  after: field("Value after the change; absent when removed.", z.unknown().optional()),
};
export const changeView = view(changeFields);

/** One difference of what runs, resolved with the package. */
export const resolvedChangeView = view({
  ...changeFields,
  text: field("The change in words.", z.string()),
  effect: field("What restarts, and which data moves or is lost; absent if neither.", z.string().optional()),
});

/** The differences between two revisions. */
const diffFields = {
  from: field("Earlier revision.", z.int()),
  to: field("Later revision.", z.int()),
  changes: field("Changed fields; empty when the revisions are equal.", z.array(changeView).readonly()),
};
export const diffView = view(diffFields);

/** The differences between two revisions of a deployment. */
export const deploymentDiffView = view({
  ...diffFields,
  resolved_changes: field(
    "Changes of what runs, the state store first: package revision, images, scale and placement. Empty when the same units run.",
    z.array(resolvedChangeView).readonly(),
  ),
});

/** The revision to restore and the reason. */
export const rollbackInput = input({
  revision: field("Revision to restore.", readInteger(REVISION_RANGE)),
  reason: field("Reason; stored in the history.", optional(readText())),
});
