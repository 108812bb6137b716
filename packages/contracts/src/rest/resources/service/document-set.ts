import type { Violation } from "@oaas/foundation";
import { LIST_LIMITS } from "@oaas/models";
import { z } from "zod";
import { problemView } from "../../faults/problem.ts";
import { field, input, items, optional, readText, view } from "../../reading/fields.ts";
import { deploymentRequestInput } from "../deployment/class-deployment.ts";
import { planView } from "../deployment/plan.ts";
import { packageInput } from "../package/package.ts";
import { changeView } from "./revision.ts";

/** One document of a set: a package or a deployment. */
export const documentInput = input(
  {
    package: field("Package to create or update.", optional(packageInput)),
    deployment: field("Deployment to create or update.", optional(deploymentRequestInput)),
    if_match: field(
      "ETags of which the object must match one, or `*` to require that it exists, as in the header.",
      optional(readText()),
    ),
    if_none_match: field(
      "ETags of which the object must match none, or `*` to require that it does not exist, as in the header.",
      optional(readText()),
    ),
  },
  checkOneKind,
);

function checkOneKind(json: Readonly<Record<string, unknown>>): readonly Violation[] {
  const given = ["package", "deployment"].filter((name) => json[name] !== undefined && json[name] !== null);
  if (given.length === 1) return [];
  const message = given.length === 0 ? "has neither a package nor a deployment" : "has a package and a deployment";
  return [{ path: "$", message, fix: "use one document for each object" }];
}

/** Packages and deployments that are applied together, or not at all. */
export const documentSetInput = input({
  documents: field(
    "Documents in any order. Deployments are planned with the packages of the set.",
    items(documentInput, LIST_LIMITS.documents),
  ),
});

export const appliedDocumentView = view({
  kind: field("Kind of the document.", z.enum(["package", "deployment"])),
  name: field("Name of the package or key of the deployment.", z.string()),
  status: field("What the set did, or would do, with the document.", z.enum(["created", "updated", "unchanged"])),
  revision: field("Revision that was or would be written; the current one of an unchanged document.", z.int()),
  etag: field("ETag of the object; in a dry run that of the current package. Null if unknown.", z.string().nullable()),
  message: field("Human-readable details; null when there are none.", z.string().nullable()),
  rollout: field(
    "For a deployment: whether every cluster has accepted it. Absent in a dry run.",
    z.enum(["complete", "in_progress", "failed"]).optional(),
  ),
  operation: field(
    "Id of the operation that rolls the deployment out; absent if none was needed.",
    z.string().optional(),
  ),
  status_url: field("URL of the status of a deployment; absent for a package.", z.string().optional()),
  problem: field(
    "Error of a failed roll-out. The document is stored, and the roll-out is retried.",
    problemView.optional(),
  ),
  changes: field("In a dry run: differences from the current package.", z.array(changeView).optional()),
  plan: field("In a dry run: the plan of the deployment.", planView.optional()),
});

/** The result of a set, one entry for each document. */
export const appliedSetView = view({
  dry_run: field("Whether nothing was written.", z.boolean()),
  documents: field(
    "Result of each document, in the order of the request, then of the applied deployments inside packages.",
    z.array(appliedDocumentView),
  ),
});
