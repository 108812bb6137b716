import { parseSchedule, toZonedTime, type Schedule } from "@oaas/foundation/schedule";
import { equalJson, type Stored } from "@oaas/kube-core";
import {
  create,
  createDecision,
  remove,
  recordEvent,
  updateStatus,
  type Decision,
  type Step,
  type WriteEvents,
} from "../loop/decision.ts";
import { asJson } from "../objects/cluster-view.ts";
import { CRON_JOBS, JOBS } from "../objects/resources.ts";
import { epochMs, wholeSeconds } from "../objects/time.ts";
import type { CronJob, CronJobStatus, Job } from "../objects/typed.ts";
import { formatZoned } from "./format-zoned.ts";

export interface CronJobState {
  readonly cronJob: Stored<CronJob>;
  /** The Jobs that it controls. */
  readonly jobs: readonly Stored<Job>[];
  readonly now: number;
}

const SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp";
const KEPT = { successful: 3, failed: 1 };
const HOUR_MS = 3_600_000;
/** Only the latest missed time counts: it is searched in the last hour first. */
const LOOKS_BACK_MS = [HOUR_MS, 24 * HOUR_MS, 31 * 24 * HOUR_MS, 366 * 24 * HOUR_MS];

/** Creates a Job at each scheduled time, reports finished ones, and deletes the oldest. */
export function decideCronJob(state: CronJobState): Decision {
  const { cronJob, jobs, now } = state;
  const seen = recordFinished(state);
  const status = computeStatus(cronJob, jobs);
  const statusStep = equalJson(status, cronJob.status ?? {})
    ? undefined
    : updateStatus(CRON_JOBS, { ...cronJob, status });
  if (statusStep !== undefined) return createDecision([...seen, statusStep]);
  const old = listExpired(state);
  if (old.length > 0) return createDecision(old);
  if (cronJob.metadata.deletionTimestamp !== undefined || cronJob.spec.suspend === true) return createDecision([]);
  const { due, next } = timesOf(cronJob, now);
  const waitMs = next === undefined ? undefined : next - now;
  return createDecision(due === undefined ? [] : startSteps(state, status, due), waitMs);
}

function startSteps({ cronJob, jobs }: CronJobState, status: CronJobStatus, due: number): readonly Step[] {
  const { concurrencyPolicy } = cronJob.spec;
  const running = jobs.filter((job) => getFinish(job) === undefined);
  if (concurrencyPolicy === "Forbid" && running.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return [recordEvent({ about: cronJob, type: "Normal", reason: "JobAlreadyActive", message })];
  }
  const job = createJob(cronJob, due);
  const started = updateStatus(CRON_JOBS, { ...cronJob, status: { ...status, lastScheduleTime: wholeSeconds(due) } });
  if (jobs.some(({ metadata }) => metadata.name === job.metadata.name)) return [started];
  const replaced = concurrencyPolicy === "Replace" ? running.map((one) => removal(cronJob, one)) : [];
  return [...replaced, create(JOBS, job, startEvents(cronJob, job.metadata.name)), started];
}

/** The last due time that was not started, and the next one. */
function timesOf({ metadata, spec, status }: CronJob, now: number): { readonly due?: number; readonly next?: number } {
  const schedule = toZonedTime(parseSchedule(spec.schedule), spec.timeZone);
  const since = epochMs(status?.lastScheduleTime) ?? epochMs(metadata.creationTimestamp) ?? now;
  const deadlineMs = (spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  const from = Math.max(since, now - deadlineMs);
  let due: number | undefined;
  let next = schedule.next(latestStart(schedule, from, now));
  while (next !== undefined && next <= now) {
    due = next;
    next = schedule.next(next);
  }
  return { ...(due === undefined ? {} : { due }), ...(next === undefined ? {} : { next }) };
}

/** The start of the search, so that few times lie in between. */
function latestStart(schedule: Schedule, from: number, now: number): number {
  const starts = LOOKS_BACK_MS.map((back) => now - back).filter((start) => start > from);
  return starts.find((start) => (schedule.next(start) ?? Number.POSITIVE_INFINITY) <= now) ?? from;
}

function createJob(cronJob: Stored<CronJob>, due: number) {
  const { metadata, spec } = cronJob;
  const { metadata: templateMetadata, spec: jobSpec } = spec.jobTemplate;
  return {
    apiVersion: JOBS.apiVersion,
    kind: JOBS.kind,
    metadata: {
      name: `${metadata.name}-${Math.floor(due / 60_000)}`,
      namespace: metadata.namespace,
      ...(templateMetadata?.labels === undefined ? {} : { labels: templateMetadata.labels }),
      annotations: { ...templateMetadata?.annotations, [SCHEDULED_AT]: formatZoned(due, spec.timeZone) },
      ownerReferences: [
        {
          apiVersion: CRON_JOBS.apiVersion,
          kind: CRON_JOBS.kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: asJson(jobSpec),
  };
}

function computeStatus({ status = {} }: CronJob, jobs: readonly Stored<Job>[]): CronJobStatus {
  const active = jobs.filter((job) => getFinish(job) === undefined).map(referenceTo);
  const successes = jobs
    .filter((job) => getFinish(job) === "Complete")
    .map(({ status: { completionTime = "" } = {} }) => completionTime);
  const lastSuccessfulTime = [status.lastSuccessfulTime ?? "", ...successes].toSorted().at(-1) ?? "";
  const { active: _active, ...rest } = status;
  return {
    ...rest,
    ...(active.length === 0 ? {} : { active }),
    ...(lastSuccessfulTime === "" ? {} : { lastSuccessfulTime }),
  };
}

function referenceTo({ metadata }: Stored<Job>) {
  const { namespace, name, uid, resourceVersion } = metadata;
  return { apiVersion: JOBS.apiVersion, kind: JOBS.kind, namespace, name, uid, resourceVersion };
}

/** Jobs that the status lists as active and that no longer are. */
function recordFinished({ cronJob, jobs }: CronJobState): readonly Step[] {
  return (cronJob.status?.active ?? []).flatMap(({ uid, name }) => {
    const job = jobs.find(({ metadata }) => metadata.uid === uid);
    const end = job && getFinish(job);
    if (job !== undefined && end === undefined) return [];
    const what =
      job === undefined
        ? { reason: "MissingJob", message: `Active job went missing: ${name}` }
        : { reason: "SawCompletedJob", message: `Saw completed job: ${name}, condition: ${end}` };
    return [recordEvent({ about: cronJob, type: "Normal", ...what })];
  });
}

/** Finished jobs beyond the history limits, oldest first. */
function listExpired({ cronJob, jobs }: CronJobState): readonly Step[] {
  const { successfulJobsHistoryLimit: successful, failedJobsHistoryLimit: failed } = cronJob.spec;
  const beyond = (end: "Complete" | "Failed", statusStep: number): readonly Stored<Job>[] => {
    const ended = jobs
      .filter((job) => getFinish(job) === end && job.metadata.deletionTimestamp === undefined)
      .toSorted((a, b) => formatStart(a).localeCompare(formatStart(b)));
    return ended.slice(0, Math.max(0, ended.length - statusStep));
  };
  return [...beyond("Complete", successful ?? KEPT.successful), ...beyond("Failed", failed ?? KEPT.failed)].map((job) =>
    removal(cronJob, job),
  );
}

/** Jobs of the same second have different names, because names count minutes. */
function formatStart({ metadata, status }: Stored<Job>): string {
  return `${status?.startTime ?? ""} ${metadata.name}`;
}

function getFinish({ status }: Job): "Complete" | "Failed" | undefined {
  const hasCondition = (conditionType: string): boolean =>
    status?.conditions?.some(({ type, status: is }) => type === conditionType && is === "True") ?? false;
  return hasCondition("Complete") ? "Complete" : hasCondition("Failed") ? "Failed" : undefined;
}

function removal(cronJob: CronJob, job: Stored<Job>): Step {
  const message = `Deleted job ${job.metadata.name}`;
  const done = () => ({ about: cronJob, type: "Normal", reason: "SuccessfulDelete", message }) as const;
  return remove(JOBS, job, { propagation: "Background" }, { done });
}

function startEvents(cronJob: CronJob, name: string): WriteEvents {
  return {
    done: () => ({ about: cronJob, type: "Normal", reason: "SuccessfulCreate", message: `Created job ${name}` }),
    failed: (status) => ({
      about: cronJob,
      type: "Warning",
      reason: "FailedCreate",
      message: `Error creating job: ${status.message ?? ""}`,
    }),
  };
}
