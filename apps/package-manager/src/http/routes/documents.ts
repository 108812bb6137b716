import { faultToProblem, HEADERS, omitUndefined, type documentInput } from "@oaas/contracts/rest";
import type { z } from "zod";
import { planToWire } from "../../planner/explanation/plan-view.ts";
import type { AppliedDocument, DocumentRequest, Documents } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpReply } from "../handler.ts";
import { conditionOf, etagOf } from "../request/preconditions.ts";
import { deploymentUrl } from "./deployments.ts";

/** The handler of sets of documents. */
export function documentHandlers(documents: Documents): HandlersOf<"apply"> {
  return {
    applyDocuments: async ({ body, query, call, idempotency }) => {
      const requests = body.documents.map(requestOf);
      const options = omitUndefined({ applyDeployments: query.apply_deployments });
      if (query.dry_run === true) return setReply(await documents.preview(requests, call, options), true);
      return setReply(await documents.apply(requests, call, { ...options, idempotency }), false);
    },
  };
}

function requestOf({
  package: definition,
  deployment,
  ...conditions
}: z.output<typeof documentInput>): DocumentRequest {
  const headers: Readonly<Record<string, string | undefined>> = {
    [HEADERS.ifMatch]: conditions.if_match,
    [HEADERS.ifNoneMatch]: conditions.if_none_match,
  };
  const ifVersion = conditionOf({ list: (name) => headers[name] });
  if (definition !== undefined) return { kind: "package", package: definition, ifVersion };
  // The schema requires one of the two.
  return { kind: "deployment", ...(deployment as NonNullable<typeof deployment>), ifVersion };
}

function setReply(results: readonly AppliedDocument[], isDryRun: boolean): HttpReply {
  const isPending = results.some(({ rollout }) => rollout === "in_progress");
  const reply = json({ dry_run: isDryRun, documents: results.map(resultToWire) }, {}, isPending ? 202 : 200);
  return { ...reply, auditTarget: results.map(({ kind, name }) => `${kind}/${name}`).join(", ") };
}

function resultToWire(result: AppliedDocument): object {
  const { kind, name, status, revision, version, message, rollout, operation, fault, changes, preview } = result;
  return omitUndefined({
    kind,
    name,
    status,
    revision,
    etag: version === undefined ? null : etagOf(version),
    message: message ?? null,
    rollout,
    operation,
    status_url: kind === "deployment" ? `${deploymentUrl(name)}/status` : undefined,
    problem: fault && faultToProblem(fault),
    changes,
    plan: preview && planToWire(preview),
  });
}
