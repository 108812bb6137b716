import type { JsonObject } from "@oaas/kube-core";
import { updateAt, fillMissing, hasObject, member, objectAt, textAt } from "../json-access.ts";
import { labelsFromTemplate } from "./core-defaults.ts";
import type { Defaulter } from "./type-defaults.ts";

const APPS = "io.k8s.api.apps.v1.";
const BATCH = "io.k8s.api.batch.v1.";
const MOST_RETRIES = 2 ** 31 - 1;

/** Defaults of workloads. */
export const appsDefaults: Readonly<Record<string, Defaulter>> = {
  [`${APPS}DeploymentSpec`]: (spec) =>
    updateAt(
      fillMissing(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
      "strategy",
      (strategy) => rolling(strategy, { maxUnavailable: "25%", maxSurge: "25%" }),
    ),
  [`${APPS}ReplicaSetSpec`]: (spec) => fillMissing(spec, { replicas: 1 }),
  [`${APPS}DaemonSetSpec`]: (spec) =>
    updateAt(fillMissing(spec, { revisionHistoryLimit: 10 }), "updateStrategy", (strategy) =>
      rolling(strategy, { maxUnavailable: 1, maxSurge: 0 }),
    ),
  [`${APPS}StatefulSetSpec`]: (spec) =>
    updateAt(
      updateAt(
        fillMissing(spec, { replicas: 1, revisionHistoryLimit: 10, podManagementPolicy: "OrderedReady" }),
        "updateStrategy",
        statefulStrategy,
      ),
      "persistentVolumeClaimRetentionPolicy",
      (policy) => fillMissing(policy, { whenDeleted: "Retain", whenScaled: "Retain" }),
    ),
  [`${BATCH}Job`]: (job) =>
    labelsFromTemplate(updateAt(job, "spec", jobSpecDefaults), objectAt(job, "spec", "template", "metadata", "labels")),
  [`${BATCH}CronJobSpec`]: (spec) =>
    fillMissing(spec, {
      concurrencyPolicy: "Allow",
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }),
  [`${BATCH}PodFailurePolicyOnPodConditionsPattern`]: (pattern) => fillMissing(pattern, { status: "True" }),
};

/** Defaults of a Job's spec; templates of CronJobs are not defaulted. */
function jobSpecDefaults(spec: JsonObject): JsonObject {
  const isUnset = member(spec, "completions") === undefined && member(spec, "parallelism") === undefined;
  return fillMissing(spec, {
    completions: isUnset ? 1 : undefined,
    parallelism: 1,
    backoffLimit: member(spec, "backoffLimitPerIndex") === undefined ? 6 : MOST_RETRIES,
    completionMode: "NonIndexed",
    suspend: false,
    podReplacementPolicy: hasObject(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed",
    manualSelector: false,
  });
}

function rolling(strategy: JsonObject, steps: JsonObject): JsonObject {
  const typed = fillMissing(strategy, { type: "RollingUpdate" });
  if (textAt(typed, "type") !== "RollingUpdate") return typed;
  return updateAt(typed, "rollingUpdate", (update) => fillMissing(update, steps));
}

function statefulStrategy(strategy: JsonObject): JsonObject {
  const typed =
    textAt(strategy, "type") === ""
      ? fillMissing({ ...strategy, type: "RollingUpdate" }, { rollingUpdate: {} })
      : strategy;
  if (textAt(typed, "type") !== "RollingUpdate" || !hasObject(typed, "rollingUpdate")) return typed;
  return updateAt(typed, "rollingUpdate", (update) => fillMissing(update, { partition: 0 }));
}
