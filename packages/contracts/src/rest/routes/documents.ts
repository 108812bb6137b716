import { appliedSetView, documentSetInput } from "../resources/service/document-set.ts";
import { packageWriteQuery } from "./packages.ts";
import { BASE, type Route } from "./route.ts";

/** Sets of packages and deployments. */
export const documentRoutes = {
  applyDocuments: {
    method: "POST",
    path: `${BASE}/apply`,
    tag: "apply",
    summary: "Apply packages and deployments in one transaction: all of them, or none",
    role: "deployer",
    since: "ours",
    query: packageWriteQuery,
    body: documentSetInput,
    response: { status: 200, description: "Applied; in a dry run, what would change.", schema: appliedSetView },
    otherResponses: [
      { status: 202, description: "Applied; some roll-outs are still in progress.", schema: appliedSetView },
    ],
    faults: ["not-found", "already-exists", "conflict", "failed-precondition"],
    idempotent: true,
  },
} as const satisfies Readonly<Record<string, Route>>;
