import { equalJson, type Stored } from "@oaas/kube-core";
import {
  create,
  decision,
  remove,
  earliestMs,
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
import { completedIndexes, indexedPods, indexesText, isIndexed } from "./job-index.ts";
import { podFrom, creationEvents, deletionEvents } from "../pod-from-template.ts";

export interface JobState {
  readonly job: Stored<Job>;
  readonly pods: readonly Stored<Pod>[];
  readonly now: number;
}

/** Backoff between failed pods: 10 s doubling to 10 min. */
const FIRST_BACKOFF_MS = 10_000;
const LONGEST_BACKOFF_MS = 600_000;

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
  if (finishTime(job) !== undefined) return expired(state);
  if (job.metadata.deletionTimestamp !== undefined) return decision([]);
  const counted = countsOf(state);
  const verdict = verdictOf(job, counted, now);
  if (verdict) return concluded(state, counted, verdict);
  const active = pods.filter(isActive);
  if (job.spec.suspend === true) {
    const stopping = active.map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod)));
    return stopping.length > 0 ? decision(stopping) : suspended(state, counted);
  }
  // The start time comes first: deadlines count from it.
  if (job.status?.startTime === undefined) return decision([statusStep(job, running(job, counted, now))]);
  const { steps, waitMs } = podSteps(state, counted, active);
  if (steps.length > 0) return decision(steps);
  return decision([statusStep(job, running(job, counted, now))], earliestMs(waitMs, deadlineInMs(job, now)));
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

function countsOf({ job, pods }: JobState): Counts {
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
    ...successOf(job, pods),
    failed: Math.max(job.status?.failed ?? 0, failedPods.length),
    restarts: isRestarting ? restarts : 0,
    lastFailureMs: Math.max(0, ...ends),
  };
}

/** An index counts once. */
function successOf(job: Job, pods: readonly Pod[]): Pick<Counts, "succeeded" | "indexes"> {
  if (isIndexed(job)) {
    const indexes = completedIndexes(job, pods);
    return { succeeded: indexes.length, indexes: indexesText(indexes) };
  }
  const done = pods.filter(({ status }) => status?.phase === "Succeeded").length;
  return { succeeded: Math.max(job.status?.succeeded ?? 0, done), indexes: "" };
}

function verdictOf({ spec, status }: Job, counted: Counts, now: number): Verdict | undefined {
  const startMs = epochMs(status?.startTime);
  // Sticky: pods stopped because of it count as failed, which could otherwise become the reason.
  const said = conditionIn(status?.conditions, "FailureTarget");
  if (said) return { type: "Failed", reason: said.reason ?? "", message: said.message ?? "" };
  if (counted.failed + counted.restarts > (spec.backoffLimit ?? 6)) {
    return { type: "Failed", reason: "BackoffLimitExceeded", message: "Job has reached the specified backoff limit" };
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && startMs !== undefined && startMs + deadline * 1000 <= now) {
    return { type: "Failed", reason: "DeadlineExceeded", message: "Job was active longer than specified deadline" };
  }
  // Without a completion count, one success ends it as soon as the others have finished.
  const isEnough =
    spec.completions === undefined
      ? counted.succeeded > 0 && counted.active === 0
      : counted.succeeded >= spec.completions;
  if (!isEnough) return undefined;
  return { type: "Complete", reason: "CompletionsReached", message: "Reached expected number of succeeded pods" };
}

/** First the criterion, then, when no pod runs any more, the end. */
function concluded(state: JobState, counted: Counts, verdict: Verdict): Decision {
  const { job, pods, now } = state;
  const active = pods.filter(isActive);
  const criterion = verdict.type === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  const { type, ...why } = verdict;
  const before = job.status?.conditions ?? [];
  const met = conditionIn(before, criterion) ? before : [...before, condition(criterion, why, now)];
  if (active.length > 0 || counted.terminating > 0) {
    const stopping = active.map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod)));
    const failed = type === "Failed" && met !== before ? counted.failed + active.length : counted.failed;
    const status = { ...running(job, { ...counted, failed }, now), conditions: met };
    if (met !== before) return decision([statusStep(job, status)]);
    return stopping.length > 0 ? decision(stopping) : decision([statusStep(job, status)]);
  }
  const status: JobStatus = {
    ...running(job, counted, now),
    ...(type === "Complete" ? { completionTime: wholeSeconds(now) } : {}),
    conditions: [...met, condition(type, why, now)],
  };
  const event =
    type === "Complete"
      ? recordEvent({ about: job, type: "Normal", reason: "Completed", message: "Job completed" })
      : recordEvent({ about: job, type: "Warning", reason: why.reason, message: why.message });
  return decision([statusStep(job, status), event]);
}

function condition(type: string, why: { readonly reason: string; readonly message: string }, now: number): Condition {
  const time = wholeSeconds(now);
  return { type, status: "True", ...why, lastProbeTime: time, lastTransitionTime: time };
}

function podSteps(
  { job, pods, now }: JobState,
  counted: Counts,
  active: readonly Stored<Pod>[],
): { readonly steps: readonly Step[]; readonly waitMs?: number } {
  const { completions, parallelism = 1 } = job.spec;
  const left =
    completions === undefined ? (counted.succeeded > 0 ? active.length : parallelism) : completions - counted.succeeded;
  const wanted = Math.max(0, Math.min(parallelism, left));
  if (active.length > wanted) {
    return { steps: active.slice(wanted).map((pod) => remove(PODS, pod, {}, deletionEvents(job, pod))) };
  }
  if (active.length === wanted) return { steps: [] };
  const waitMs = counted.failed === 0 ? 0 : counted.lastFailureMs + backoffMs(counted.failed) - now;
  if (waitMs > 0) return { steps: [], waitMs };
  const missing = wanted - active.length;
  const made = isIndexed(job)
    ? indexedPods(job, pods, missing)
    : Array.from({ length: missing }, () => podFrom(job, job.spec.template));
  return { steps: made.map((pod) => create(PODS, pod, creationEvents(job))) };
}

function backoffMs(failures: number): number {
  return Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.min(failures - 1, 20));
}

function running(job: Job, counted: Counts, now: number): JobStatus {
  const conditions = resumed(job, now);
  return {
    ...(counted.active === 0 ? {} : { active: counted.active }),
    ready: counted.ready,
    ...(counted.succeeded === 0 ? {} : { succeeded: counted.succeeded }),
    ...(counted.failed === 0 ? {} : { failed: counted.failed }),
    ...(counted.indexes === "" ? {} : { completedIndexes: counted.indexes }),
    terminating: counted.terminating,
    startTime: job.status?.startTime ?? wholeSeconds(now),
    ...(conditions.length === 0 ? {} : { conditions }),
    uncountedTerminatedPods: {},
  };
}

function resumed({ status }: Job, now: number): readonly Condition[] {
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

function suspended({ job, now }: JobState, counted: Counts): Decision {
  const before = job.status?.conditions ?? [];
  const { startTime: _, ...status } = running(job, counted, now);
  if (conditionIn(before, "Suspended")?.status === "True")
    return decision([statusStep(job, { ...status, conditions: before })]);
  const others = before.filter(({ type }) => type !== "Suspended");
  const conditions = [...others, condition("Suspended", { reason: "JobSuspended", message: "Job suspended" }, now)];
  return decision([
    statusStep(job, { ...status, conditions }),
    recordEvent({ about: job, type: "Normal", reason: "Suspended", message: "Job suspended" }),
  ]);
}

function finishTime({ status }: Job): number | undefined {
  const over = status?.conditions?.find(
    ({ type, status: is }) => (type === "Complete" || type === "Failed") && is === "True",
  );
  return over && (epochMs(over.lastTransitionTime) ?? 0);
}

/** Deletes Jobs after their time to live. */
function expired({ job, now }: JobState): Decision {
  const ttl = job.spec.ttlSecondsAfterFinished;
  if (ttl === undefined || job.metadata.deletionTimestamp !== undefined) return decision([]);
  const waitMs = (finishTime(job) ?? 0) + ttl * 1000 - now;
  return waitMs > 0 ? decision([], waitMs) : decision([remove(JOBS, job, { propagation: "Foreground" })]);
}

function deadlineInMs({ spec, status }: Job, now: number): number | undefined {
  const startMs = epochMs(status?.startTime);
  if (spec.activeDeadlineSeconds === undefined || startMs === undefined) return undefined;
  return startMs + spec.activeDeadlineSeconds * 1000 - now;
}

function statusStep(job: Stored<Job>, status: JobStatus): Step | undefined {
  return equalJson(status, job.status ?? {}) ? undefined : updateStatus(JOBS, { ...job, status });
}
