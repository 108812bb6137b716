import type { KubeObject } from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { typed } from "../objects/cluster-view.ts";
import { CRON_JOBS, JOBS, nameOfKey, objectKey } from "../objects/resources.ts";
import type { CronJob, Job } from "../objects/typed.ts";
import { ownerKeys } from "../workloads/adoption.ts";
import { decideCronJob } from "./cron-job.ts";

/** Creates Jobs on schedule. */
export function cronJobController(): Controller {
  return {
    name: "cron-jobs",
    reporter: "cronjob-controller",
    writer: "kube-controller-manager",
    watches: [
      {
        kind: CRON_JOBS,
        keys: (object) => {
          const { namespace, name } = typed<KubeObject>(object).metadata;
          return [objectKey(namespace, name)];
        },
      },
      { kind: JOBS, isSecondary: true, keys: (object, view) => ownerKeys(typed(object), CRON_JOBS, view) },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const cronJob = view.get<CronJob>(CRON_JOBS, namespace, name);
      return cronJob ? decideCronJob({ cronJob, jobs: view.controlled<Job>(cronJob, JOBS), now }) : SETTLED;
    },
  };
}
