import type { JsonObject } from "@oaas/kube-core";
import { changedAt, filled, hasObject, member, objectAt, textAt } from "../json-access.ts";
import { labelsFromTemplate } from "./core-defaults.ts";
import type { Defaulter } from "./type-defaults.ts";

const APPS = "io.k8s.api.apps.v1.";
const BATCH = "io.k8s.api.batch.v1.";
const MOST_RETRIES = 2 ** 31 - 1;

/** Defaults of workloads. */
export const appsDefaults: Readonly<Record<string, Defaulter>> = {
  [`${APPS}DeploymentSpec`]: (spec) =>
    changedAt(
      filled(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
      "strategy",
      (strategy) => rolling(strategy, { maxUnavailable: "25%", maxSurge: "25%" }),
    ),
  [`${APPS}ReplicaSetSpec`]: (spec) => filled(spec, { replicas: 1 }),
  [`${APPS}DaemonSetSpec`]: (spec) =>
    changedAt(filled(spec, { revisionHistoryLimit: 10 }), "updateStrategy", (strategy) =>
      rolling(strategy, { maxUnavailable: 1, maxSurge: 0 }),
    ),
  [`${APPS}StatefulSetSpec`]: (spec) =>
    changedAt(
      changedAt(
        filled(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" }),
        "updateStrategy",
        statefulStrategy,
      ),
      "persistentVolumeClaimRetentionPolicy",
      (policy) => filled(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
    ),
  [`${BATCH}Job`]: (job) =>
    labelsFromTemplate(
      changedAt(job, "spec", jobSpecDefaults),
      objectAt(job, "spec", "template", "metadata", "labels"),
    ),
  [`${BATCH}CronJobSpec`]: (spec) =>
    filled(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  [`${BATCH}PodFailurePolicyOnPodConditionsPattern`]: (pattern) => filled(pattern, { status: "True" }),
};

/** Defaults of a Job's spec; templates of CronJobs are not defaulted. */
function jobSpecDefaults(spec: JsonObject): JsonObject {
  const isUnsaid = member(spec, "completions") === undefined && member(spec, "parallelism") === undefined;
  return filled(spec, {
    completions: isUnsaid ? 1 : undefined,
    parallelism: 1,
    backoffLimit: member(spec, "backoffLimitPerIndex") === undefined ? 6 : MOST_RETRIES,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: hasObject(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed",
    manualSelector: false,
  });
}

function rolling(strategy: JsonObject, steps: JsonObject): JsonObject {
  const typed = filled(strategy, { type: "RollingUpdate" });
  if (textAt(typed, "type") !== "RollingUpdate") return typed;
  return changedAt(typed, "rollingUpdate", (update) => filled(update, steps));
}

function statefulStrategy(strategy: JsonObject): JsonObject {
  const typed =
    textAt(strategy, "type") === "" ? filled({ ...strategy, type: "RollingUpdate" }, { rollingUpdate: {} }) : strategy;
  if (textAt(typed, "type") !== "RollingUpdate" || !hasObject(typed, "rollingUpdate")) return typed;
  return changedAt(typed, "rollingUpdate", (update) => filled(update, { partition: 0 }));
}
