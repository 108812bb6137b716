import { equalJson, type Stored } from "@oaas/kube-core";
import {
  create,
  createDecision,
  remove,
  minDelayMs,
  recordEvent,
  updateStatus,
  type Decision,
  type Step,
} from "../../loop/decision.ts";
import { conditionIn } from "../../objects/conditions.ts";
import { isActive, isReady, isTerminating } from "../../objects/pods.ts";
import { JOBS, PODS } from "../../objects/resources.ts";
import { epochMs, wholeSeconds } from "../../objects/time.ts";
import type { Condition, Job, JobStatus, Pod } from "../../objects/typed.ts";
import { listCompletedIndexes, createIndexedPods, formatIndexes, isIndexed } from "./job-index.ts";
import { createPodFromTemplate, creationEvents, deletionEvents } from "../pod-from-template.ts";

export interface JobState {
  readonly job: Stored<Job>;
  readonly pods: readonly Stored<Pod>[];
  readonly now: number;
}

/** Backoff between failed pods: 10 s doubling to 10 min. */
const FIRST_BACKOFF_MS = 10_000;
const MAX_BACKOFF_MS = 600_000;

interface Verdict {
  readonly type: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
}

/**
 * Creates pods until enough have succeeded or too many failed. Counts never decrease, also when finished pods are
 * deleted.
 */
export function decideJob(state: JobState): Decision {
  const { job, pods, now } = state;
  if (getFinishTime(job) !== undefined) return deleteExpired(state);
  if (job.metadata.deletionTimestamp !== undefined) return createDecision([]);
  const counts = countPods(state);
  const verdict = decideVerdict(job, counts, now);
  if (verdict) return finishJob(state, counts, verdict);
  const active = pods.filter(isActive);
  if (job.spec.suspend === true) {
    const stopping = active.map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod)));
    return stopping.length > 0 ? createDecision(stopping) : suspendJob(state, counts);
  }
  // The start time comes first: deadlines count from it.
  if (job.status?.startTime === undefined)
    return createDecision([createStatusStep(job, createRunningStatus(job, counts, now))]);
  const { steps, waitMs } = createPodSteps(state, counts, active);
  if (steps.length > 0) return createDecision(steps);
  return createDecision(
    [createStatusStep(job, createRunningStatus(job, counts, now))],
    minDelayMs(waitMs, deadlineInMs(job, now)),
  );
}

interface Counts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
  readonly succeeded: number;
  /** The index, for indexed Jobs. */
  readonly indexes: string;
  readonly failed: number;
  /** Containers restarted in the same pod: failures too, but not of pods. */
  readonly restarts: number;
  readonly lastFailureMs: number;
}

function countPods({ job, pods }: JobState): Counts {
  const failedPods = pods.filter(({ status }) => status?.phase === "Failed");
  const active = pods.filter(isActive);
  const restarts = active
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .reduce((sum, one) => sum + one.restartCount, 0);
  const ends = failedPods
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .map(({ state }) => epochMs(state.terminated?.finishedAt) ?? 0);
  const isRestarting = job.spec.template.spec?.restartPolicy === "OnFailure";
  return {
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    ...countSucceeded(job, pods),
    failed: Math.max(job.status?.failed ?? 0, failedPods.length),
    restarts: isRestarting ? restarts : 0,
    lastFailureMs: Math.max(0, ...ends),
  };
}

/** An index counts once. */
function countSucceeded(job: Job, pods: readonly Pod[]): Pick<Counts, "succeeded" | "indexes"> {
  if (isIndexed(job)) {
    const indexes = listCompletedIndexes(job, pods);
    return { succeeded: indexes.length, indexes: formatIndexes(indexes) };
  }
  const done = pods.filter(({ status }) => status?.phase === "Succeeded").length;
  return { succeeded: Math.max(job.status?.succeeded ?? 0, done), indexes: "" };
}

function decideVerdict({ spec, status }: Job, counts: Counts, now: number): Verdict | undefined {
  const startMs = epochMs(status?.startTime);
  // The first verdict stays: pods stopped because of it count as failed and must not change the reason.
  const failureTarget = conditionIn(status?.conditions, "FailureTarget");
  if (failureTarget)
    return { type: "Failed", reason: failureTarget.reason ?? "", message: failureTarget.message ?? "" };
  if (counts.failed + counts.restarts > (spec.backoffLimit ?? 6)) {
    return { type: "Failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && startMs !== undefined && startMs + deadline * 1000 <= now) {
    return { type: "Failed", reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  // Without a completion count, one success ends it as soon as the others have finished.
  const isEnough =
    spec.completions === undefined ? counts.succeeded > 0 && counts.active === 0 : counts.succeeded >= spec.completions;
  if (!isEnough) return undefined;
  return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

/** Writes the criterion first, and the final condition when no pod runs any more. */
function finishJob(state: JobState, counts: Counts, verdict: Verdict): Decision {
  const { job, pods, now } = state;
  const active = pods.filter(isActive);
  const criterion = verdict.type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  const { type, ...explanation } = verdict;
  const before = job.status?.conditions ?? [];
  const withCriterion = conditionIn(before, criterion)
    ? before
    : [...before, createCondition(criterion, explanation, now)];
  if (active.length > 0 || counts.terminating > 0) {
    const stopping = active.map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod)));
    const failed = type === "Failed" && withCriterion !== before ? counts.failed + active.length : counts.failed;
    const status = { ...createRunningStatus(job, { ...counts, failed }, now), conditions: withCriterion };
    if (withCriterion !== before) return createDecision([createStatusStep(job, status)]);
    return stopping.length > 0 ? createDecision(stopping) : createDecision([createStatusStep(job, status)]);
  }
  const status: JobStatus = {
    ...createRunningStatus(job, counts, now),
    ...(type === "Complete" ? { completionTime: wholeSeconds(now) } : {}),
    conditions: [...withCriterion, createCondition(type, explanation, now)],
  };
  const event =
    type === "Complete"
      ? recordEvent({ about: job, type: "Normal", reason: "Completed", message: "Job completed" })
      : recordEvent({ about: job, type: "Warning", reason: explanation.reason, message: explanation.message });
  return createDecision([createStatusStep(job, status), event]);
}

function createCondition(
  type: string,
  explanation: { readonly reason: string; readonly message: string },
  now: number,
): Condition {
  const time = wholeSeconds(now);
  return { type, status: "True", ...explanation, lastProbeTime: time, lastTransitionTime: time };
}

function createPodSteps(
  { job, pods, now }: JobState,
  counts: Counts,
  active: readonly Stored<Pod>[],
): { readonly steps: readonly Step[]; readonly waitMs?: number } {
  const { completions, parallelism = 1 } = job.spec;
  const remaining =
    completions === undefined ? (counts.succeeded > 0 ? active.length : parallelism) : completions - counts.succeeded;
  const desired = Math.max(0, Math.min(parallelism, remaining));
  if (active.length > desired) {
    return { steps: active.slice(desired).map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod))) };
  }
  if (active.length === desired) return { steps: [] };
  const waitMs = counts.failed === 0 ? 0 : counts.lastFailureMs + backoffMs(counts.failed) - now;
  if (waitMs > 0) return { steps: [], waitMs };
  const missing = desired - active.length;
  const newPods = isIndexed(job)
    ? createIndexedPods(job, pods, missing)
    : Array.from({ length: missing }, () => createPodFromTemplate(job, job.spec.template));
  return { steps: newPods.map((pod) => create(PODS, pod, creationEvents(job))) };
}

function backoffMs(failures: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 20));
}

function createRunningStatus(job: Job, counts: Counts, now: number): JobStatus {
  const conditions = resumeConditions(job, now);
  return {
    ...(counts.active === 0 ? {} : { active: counts.active }),
    ready: counts.ready,
    ...(counts.succeeded === 0 ? {} : { succeeded: counts.succeeded }),
    ...(counts.failed === 0 ? {} : { failed: counts.failed }),
    ...(counts.indexes === "" ? {} : { completedIndexes: counts.indexes }),
    terminating: counts.terminating,
    startTime: job.status?.startTime ?? wholeSeconds(now),
    ...(conditions.length === 0 ? {} : { conditions }),
    uncountedTerminatedPods: {},
  };
}

function resumeConditions({ status }: Job, now: number): readonly Condition[] {
  const time = wholeSeconds(now);
  return (status?.conditions ?? []).map((one) =>
    one.type === "Suspended" && one.status === "True"
      ? {
          ...one,
          status: "False",
          reason: "JobResumed",
          message: "Job resumed",
          lastProbeTime: time,
          lastTransitionTime: time,
        }
      : one,
  );
}

function suspendJob({ job, now }: JobState, counts: Counts): Decision {
  const before = job.status?.conditions ?? [];
  const { startTime: _, ...status } = createRunningStatus(job, counts, now);
  if (conditionIn(before, "Suspended")?.status === "True")
    return createDecision([createStatusStep(job, { ...status, conditions: before })]);
  const others = before.filter(({ type }) => type !== "Suspended");
  const conditions = [
    ...others,
    createCondition("Suspended", { reason: "JobSuspended", message: "Job suspended" }, now),
  ];
  return createDecision([
    createStatusStep(job, { ...status, conditions }),
    recordEvent({ about: job, type: "Normal", reason: "Suspended", message: "Job suspended" }),
  ]);
}

function getFinishTime({ status }: Job): number | undefined {
  const finished = status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  return finished && (epochMs(finished.lastTransitionTime) ?? 0);
}

/** Deletes Jobs after their time to live. */
function deleteExpired({ job, now }: JobState): Decision {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || job.metadata.deletionTimestamp !== undefined) return createDecision([]);
  const waitMs = (getFinishTime(job) ?? 0) + ttl * 1000 - now;
  return waitMs > 0 ? createDecision([], waitMs) : createDecision([remove(JOBS, job, { propagation: "Foreground" })]);
}

function deadlineInMs({ spec, status }: Job, now: number): number | undefined {
  const startMs = epochMs(status?.startTime);
  if (spec.activeDeadlineSeconds === undefined || startMs === undefined) return undefined;
  return startMs + spec.activeDeadlineSeconds * 1000 - now;
}

function createStatusStep(job: Stored<Job>, status: JobStatus): Step | undefined {
  return equalJson(status, job.status ?? {}) ? undefined : updateStatus(JOBS, { ...job, status });
}
