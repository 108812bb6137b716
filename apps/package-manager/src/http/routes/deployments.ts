import {
  deploymentRevisionToWire,
  deploymentStatusToWire,
  explanationToWire,
  HEADERS,
  omitUndefined,
} from "@oaas/contracts/rest";
import { invalidArgument } from "@oaas/foundation";
import type { DeploymentKey, DeploymentRevision } from "@oaas/models";
import { maskDeployment } from "../../masking/mask-settings.ts";
import { planToWire } from "../../planner/explanation/plan-view.ts";
import type { Acknowledgement, Deployments, Pauses, Replans, StatusReader } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpReply } from "../handler.ts";
import { deploymentJson, maskedDeploymentJson, pageSerialiser } from "../presenters/serialised.ts";
import { etagOf } from "../request/preconditions.ts";
import { clusterIn, conditionIn, pageRequestOf, revisionIn, withReason, type Parameters } from "./parameters.ts";
import { accepted, acknowledged, pageHeaders } from "./replies.ts";

/** Handlers of plans, and of deployments with their status and history. */
export function deploymentHandlers(
  deployments: Deployments,
  replans: Replans,
  pauses: Pauses,
  status: StatusReader,
): HandlersOf<"deployments" | "plans"> {
  const keyIn = (parameters: Parameters): DeploymentKey => parameters["key"] as DeploymentKey;
  const deploymentPage = pageSerialiser(deploymentJson);
  const maskedPage = pageSerialiser(maskedDeploymentJson);
  return {
    createPlan: async ({ body, call }) => {
      const { deployment, what_if: assumed, objects } = body;
      const whatIf =
        assumed &&
        omitUndefined({
          clustersDown: assumed.clusters_down,
          availability: assumed.availability,
          clusterAvailability: assumed.cluster_availability,
          packageRevision: assumed.package_revision,
          package: assumed.package,
        });
      return json(planToWire(await deployments.plan(omitUndefined({ deployment, whatIf, objects }), call)));
    },
    createDeployment: async ({ body, call, ifVersion, idempotency }) =>
      applied(await deployments.apply(body, call, { ifVersion, idempotency })),
    putDeployment: async ({ parameters, body, call, ifVersion, idempotency }) => {
      assertKey(keyIn(parameters), body.deployment.key);
      return applied(await deployments.apply(body, call, { ifVersion, idempotency }));
    },
    rollBackDeployment: async ({ parameters, body, call, ifVersion, idempotency }) => {
      const reasoned = withReason(call, body.reason);
      return applied(
        await deployments.rollBack(keyIn(parameters), body.revision, reasoned, { ifVersion, idempotency }),
      );
    },
    replanDeployment: async ({ parameters, body, call, idempotency }) =>
      applied(await replans.apply(keyIn(parameters), body.plan_digest, withReason(call, body.reason), { idempotency })),
    pauseDeployment: async ({ parameters, body, call }) => {
      const key = keyIn(parameters);
      const request = omitUndefined({ until: body.until, durationSeconds: body.duration_secs });
      await pauses.pause(key, request, withReason(call, body.reason));
      return json(deploymentStatusToWire(await status.status(key)));
    },
    resumeDeployment: async ({ parameters }) => {
      const key = keyIn(parameters);
      await pauses.resume(key);
      return json(deploymentStatusToWire(await status.status(key)));
    },
    cancelDeployment: async ({ parameters, call }) => {
      const key = keyIn(parameters);
      await deployments.cancel(key, call);
      return json(deploymentStatusToWire(await status.status(key)));
    },
    deleteDeployment: async ({ parameters, query, call, ifVersion }) => {
      const key = keyIn(parameters);
      const cluster = clusterIn(query);
      const deletion = await deployments.remove(key, call, { ...omitUndefined({ cluster }), ifVersion });
      const { deleted, pending, message } = deletion;
      if (deletion.status === "accepted") return accepted({ id: key, message }, `${deploymentUrl(key)}/status`);
      const pendingEnvs = pending.length === 0 ? undefined : pending;
      return json(
        omitUndefined({ id: key, message, deleted_envs: deleted, pending_envs: pendingEnvs, env: cluster, cluster }),
      );
    },
    getDeployment: async ({ parameters, showsSecrets }) => {
      const { value, version } = await deployments.get(keyIn(parameters));
      const isMasked = !showsSecrets && maskDeployment(value.deployment) !== value.deployment;
      const headers = { [HEADERS.etag]: etagOf(version, isMasked) };
      return { status: 200, json: (isMasked ? maskedDeploymentJson : deploymentJson)(value), headers };
    },
    listDeployments: async ({ query, showsSecrets }) => {
      const filter = omitUndefined({
        packageName: query.package_name,
        classKey: query.class_key,
        targetEnv: query.target_env,
        targetCluster: query.target_cluster,
        condition: conditionIn("condition", query.condition),
        filter: query.filter,
        sort: query.sort,
      });
      const page = await deployments.list({ ...pageRequestOf(query), ...filter });
      return {
        status: 200,
        headers: pageHeaders(page),
        json: (showsSecrets ? deploymentPage : maskedPage)(page.items),
      };
    },
    getEnvMappings: async ({ parameters }) => {
      const key = keyIn(parameters);
      const ids = await deployments.mappings(key);
      return json({ deployment_key: key, cluster_ids: ids, env_ids: ids });
    },
    getDeploymentStatus: async ({ parameters }) => json(deploymentStatusToWire(await status.status(keyIn(parameters)))),
    explainDeployment: async ({ parameters, query, call }) =>
      json(explanationToWire(await status.explain(keyIn(parameters), clusterIn(query), call))),
    listDeploymentRevisions: async ({ parameters, query }) => {
      const page = await deployments.revisions(keyIn(parameters), pageRequestOf(query));
      return json(page.items.map(maskedRevision), pageHeaders(page));
    },
    getDeploymentRevision: async ({ parameters }) =>
      json(maskedRevision(await deployments.revision(keyIn(parameters), revisionIn(parameters)))),
    diffDeployment: async ({ parameters, query }) => {
      const { resolvedChanges, ...diff } = await deployments.diff(keyIn(parameters), query.from, query.to);
      return json({ ...diff, resolved_changes: resolvedChanges });
    },
  };
}

/** A revision for every caller, without secrets. */
function maskedRevision(revision: DeploymentRevision): ReturnType<typeof deploymentRevisionToWire> {
  return deploymentRevisionToWire({ ...revision, deployment: maskDeployment(revision.deployment) });
}

function applied(ack: Acknowledgement): HttpReply {
  const url = deploymentUrl(ack.key ?? ack.id);
  if (ack.status === "accepted") return accepted(ack, `${url}/status`);
  return acknowledged(ack, 200, { [HEADERS.contentLocation]: url });
}

export function deploymentUrl(key: string): string {
  return `/api/v1/deployments/${encodeURIComponent(key)}`;
}

function assertKey(inPath: DeploymentKey, inBody: DeploymentKey): void {
  if (inPath === inBody) return;
  const message = `is "${inBody}", but the path names "${inPath}"`;
  throw invalidArgument("the deployment", [{ path: "$.key", message, fix: "make the two the same" }]);
}
