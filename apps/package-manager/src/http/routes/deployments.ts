import { HEADERS } from "@oaas/contracts/rest";
import { invalidArgument } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { planToWire } from "../../planner/explanation/plan-view.ts";
import type { Acknowledgement, Deployments, StatusReader } from "../../use-cases.ts";
import { json, type Handlers, type HttpReply } from "../handler.ts";
import { accepted, acknowledged } from "../presenters/acknowledgement.ts";
import { deploymentJson } from "../presenters/deployment.ts";
import { KeptPages } from "../presenters/kept-pages.ts";
import { deploymentStatusToWire, explanationToWire } from "../presenters/deployment-status.ts";
import { deploymentRevisionToWire, diffToWire } from "../presenters/revision.ts";
import { etagOf } from "../preconditions.ts";
import { conditionIn } from "./conditions.ts";
import { pageHeaders, pageRequestOf, revisionIn } from "./paging.ts";

type DeploymentOperation =
  | "createDeployment"
  | "listDeployments"
  | "getDeployment"
  | "putDeployment"
  | "deleteDeployment"
  | "getEnvMappings"
  | "getDeploymentStatus"
  | "explainDeployment"
  | "listDeploymentRevisions"
  | "getDeploymentRevision"
  | "diffDeployment"
  | "rollBackDeployment"
  | "cancelDeployment"
  | "createPlan";

/** Plans, and deployments with their state and history. */
export function deploymentHandlers(deployments: Deployments, status: StatusReader): Handlers<DeploymentOperation> {
  const keyIn = (parameters: Readonly<Record<string, string>>): DeploymentKey => parameters["key"] as DeploymentKey;
  const pages = new KeptPages(deploymentJson);
  return {
    createPlan: async ({ body, call }) => {
      const { deployment, what_if: whatIf } = body;
      const assumed = whatIf && {
        clustersDown: whatIf.clusters_down,
        ...(whatIf.availability === undefined ? {} : { availability: whatIf.availability }),
        ...(whatIf.cluster_availability === undefined ? {} : { clusterAvailability: whatIf.cluster_availability }),
        ...(whatIf.package_revision === undefined ? {} : { packageRevision: whatIf.package_revision }),
      };
      return json(planToWire(await deployments.plan({ deployment, ...(assumed ? { whatIf: assumed } : {}) }, call)));
    },
    createDeployment: async ({ body, call, ifVersion, once }) =>
      carriedOut(await deployments.apply(body, call, { ifVersion, once })),
    putDeployment: async ({ parameters, body, call, ifVersion, once }) => {
      const key = keyIn(parameters);
      if (body.deployment.key !== key)
        throw invalidArgument("the deployment", [
          {
            path: "$.key",
            message: `is "${body.deployment.key}", but the path says "${key}"`,
            fix: "make the two the same",
          },
        ]);
      return carriedOut(await deployments.apply(body, call, { ifVersion, once }));
    },
    rollBackDeployment: async ({ parameters, body, call, ifVersion, once }) =>
      carriedOut(
        await deployments.rollBack(keyIn(parameters), body.revision, call.because(body.reason), {
          ifVersion,
          once,
        }),
      ),
    cancelDeployment: async ({ parameters, call }) => {
      const key = keyIn(parameters);
      await deployments.cancel(key, call);
      return json(deploymentStatusToWire(await status.status(key)));
    },
    deleteDeployment: async ({ parameters, query, call, ifVersion }) => {
      const key = keyIn(parameters);
      const cluster = clusterIn(query);
      const {
        status: outcome,
        deleted,
        pending,
        message,
      } = await deployments.remove(key, call, {
        ifVersion,
        ...(cluster === undefined ? {} : { cluster }),
      });
      if (outcome === "accepted") return accepted({ id: key, message }, `${deploymentUrl(key)}/status`);
      return json({
        id: key,
        message,
        deleted_envs: deleted,
        ...(pending.length === 0 ? {} : { pending_envs: pending }),
        ...(cluster === undefined ? {} : { env: cluster, cluster }),
      });
    },
    getDeployment: async ({ parameters }) => {
      const { value, version } = await deployments.get(keyIn(parameters));
      return { status: 200, json: deploymentJson(value), headers: { etag: etagOf(version) } };
    },
    listDeployments: async ({ query }) => {
      const {
        package_name: packageName,
        class_key: classKey,
        target_env: targetEnv,
        target_cluster: targetCluster,
      } = query;
      const page = await deployments.list({
        ...pageRequestOf(query),
        ...(packageName === undefined ? {} : { packageName }),
        ...(classKey === undefined ? {} : { classKey }),
        ...(targetEnv === undefined ? {} : { targetEnv }),
        ...(targetCluster === undefined ? {} : { targetCluster }),
        ...(query.condition === undefined ? {} : { condition: conditionIn("condition", query.condition) }),
        ...(query.sort === undefined ? {} : { sort: query.sort }),
      });
      return { status: 200, headers: pageHeaders(page), json: pages.json(page.items) };
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
      return json(page.items.map(deploymentRevisionToWire), pageHeaders(page));
    },
    getDeploymentRevision: async ({ parameters }) =>
      json(deploymentRevisionToWire(await deployments.revision(keyIn(parameters), revisionIn(parameters)))),
    diffDeployment: async ({ parameters, query }) =>
      json(diffToWire(await deployments.diff(keyIn(parameters), query.from, query.to))),
  };
}

function carriedOut(ack: Acknowledgement): HttpReply {
  const url = deploymentUrl(ack.key ?? ack.id);
  if (ack.status === "accepted") return accepted(ack, `${url}/status`);
  return acknowledged(ack, 200, { [HEADERS.contentLocation]: url });
}

function deploymentUrl(key: string): string {
  return `/api/v1/deployments/${encodeURIComponent(key)}`;
}

/** A cluster under either of its two names. */
export function clusterIn(query: {
  readonly cluster?: ClusterName | undefined;
  readonly env?: ClusterName | undefined;
}): ClusterName | undefined {
  return query.cluster ?? query.env;
}
