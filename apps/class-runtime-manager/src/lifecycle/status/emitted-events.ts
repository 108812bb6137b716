import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { ObjectRef } from "@oaas/kube-core";
import type { StatusCondition } from "./conditions.ts";
import { driftText } from "./drift-record.ts";
import type { FunctionStatus } from "./component-status.ts";
import { isFaultReason, REASONS, type Reason } from "../observation/reasons.ts";

/** A Kubernetes Event about the class, in the format of the event recorder of kube-runtime. */
export interface EmittedEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectRef;
  readonly related?: ObjectRef;
}

/** Events for the difference between two statuses. */
export function emittedEvents(
  previous: ClassRuntimeStatus | undefined,
  next: ClassRuntimeStatus,
  regarding: ObjectRef,
): readonly EmittedEvent[] {
  return [
    ...templateEvents(previous, next),
    ...rolloutEvents(previous, next),
    ...phaseEvents(previous, next),
    ...conditionEvents(previous, next, "OdgmReady"),
    ...restartEvents(previous, next),
    ...functionEvents(previous, next),
    ...driftEvents(previous, next),
  ].map((happening) => ({ ...happening, regarding }));
}

type EventWithoutSubject = Omit<EmittedEvent, "regarding">;

function templateEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const [before, after] = [previous?.template, next.template];
  if (after === undefined || (before?.name === after.name && before.revision === after.revision)) return [];
  const how = {
    explicit: "named by the class",
    hint: "hinted by the class",
    environment: "named by the environment",
    score: "highest score",
  }[after.basis];
  const instead =
    before === undefined
      ? ""
      : before.name === after.name
        ? `, revision ${shortRevision(after.revision)} instead of ${shortRevision(before.revision)}`
        : `, instead of ${before.name}`;
  return [
    {
      type: "Normal",
      reason: "TemplateSelected",
      action: "ChooseTemplate",
      note: `Selected template ${after.name} (${how})${instead}.`,
    },
  ];
}

/** A prefix of a digest that is enough to distinguish revisions. */
function shortRevision(revision: string | undefined): string {
  return revision === undefined ? "none" : revision.slice(0, 12);
}

const ROLL_OUT_EVENTS = {
  waits: { type: "Normal", reason: "RollOutWaiting" },
  halted: { type: "Warning", reason: "RollOutHalted" },
  refused: { type: "Warning", reason: "RollOutRefused" },
} as const;

function rolloutEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const [before, after] = [previous?.template?.roll_out, next.template?.roll_out];
  if (after === undefined || (before?.state === after.state && before.revision === after.revision)) return [];
  return [{ ...ROLL_OUT_EVENTS[after.state], action: "RollOut", note: after.message }];
}

const PHASE_EVENTS = {
  pending: undefined,
  applying: { reason: "Applying", action: "Apply" },
  progressing: { reason: "Progressing", action: "Observe" },
  available: { reason: "Available", action: "Observe" },
  degraded: { reason: "Degraded", action: "Observe" },
  deleting: { reason: "Deleting", action: "Finalize" },
} as const;

function phaseEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const { phase = "pending", message: note = "", reason } = next;
  const samePhase = previous?.phase === phase;
  const sameCause = previous?.reason === reason;
  if (samePhase && (sameCause || !isFault(reason))) return [];
  const event = PHASE_EVENTS[phase];
  if (event === undefined) return [];
  if (!isFault(reason)) return [{ ...event, type: "Normal", note }];
  return [{ type: "Warning", reason, action: event.action, note: withAction(note, reason) }];
}

function isFault(reason: string | undefined): reason is Reason {
  return reason !== undefined && Object.hasOwn(REASONS, reason) && isFaultReason(reason as Reason);
}

function withAction(note: string, reason: Reason): string {
  const { action } = REASONS[reason];
  return action === "" ? note : `${note} ${action}`;
}

function conditionEvents(
  previous: ClassRuntimeStatus | undefined,
  next: ClassRuntimeStatus,
  type: string,
): EventWithoutSubject[] {
  const find = (status: ClassRuntimeStatus | undefined): StatusCondition | undefined =>
    status?.conditions?.find((condition) => condition.type === type);
  const [before, after] = [find(previous), find(next)];
  if (after === undefined || after.status === before?.status) return [];
  // A new component that is not ready yet is not worth an event.
  if (after.status !== "True" && before === undefined) return [];
  if (after.status === "Unknown" && before?.status !== "True") return [];
  const holds = after.status === "True";
  return [
    {
      type: holds ? "Normal" : "Warning",
      reason: holds ? type : `${type.replace(/Ready$/, "")}NotReady`,
      action: "Observe",
      note: after.message ?? "",
    },
  ];
}

const RESTART_EVENTS = {
  Pending: { type: "Normal", reason: "RestartPending" },
  Refused: { type: "Warning", reason: "RestartRefused" },
  WaitingForTurn: { type: "Normal", reason: "RestartWaitingForTurn" },
  Restarting: { type: "Normal", reason: "Restarting" },
} as const;

/** An Event when a restart of the state store is due, refused, or concerns other nodes. */
function restartEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const [before, after] = [previous?.odgm_cluster_status?.restart, next.odgm_cluster_status?.restart];
  if (after === undefined || (before?.state === after.state && before.message === after.message)) return [];
  return [{ ...RESTART_EVENTS[after.state], action: "RestartStateStore", note: after.message }];
}

/** An Event for each correction that is new, or was repeated. */
function driftEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const known = new Set(
    (previous?.drift_corrections ?? []).map(({ last_at: at, kind, name }) => `${at} ${kind} ${name}`),
  );
  return (next.drift_corrections ?? [])
    .filter(({ last_at: at, kind, name }) => !known.has(`${at} ${kind} ${name}`))
    .map((record) => ({
      type: "Normal",
      reason: "DriftCorrected",
      action: "Apply",
      note: driftText(record),
    }));
}

function functionEvents(previous: ClassRuntimeStatus | undefined, next: ClassRuntimeStatus): EventWithoutSubject[] {
  const before = new Map((previous?.functions ?? []).map((status) => [status.function_key, status]));
  const changes = (next.functions ?? []).flatMap((status) => functionEvent(before.get(status.function_key), status));
  if (next.phase === "deleting") return changes;
  const kept = new Set((next.functions ?? []).map(({ function_key: key }) => key));
  const gone = [...before.keys()].filter((key) => !kept.has(key));
  return [
    ...changes,
    ...gone.map((key): EventWithoutSubject => ({
      type: "Normal",
      reason: "FunctionRemoved",
      action: "Prune",
      note: `Function ${key} is no longer part of the class.`,
    })),
  ];
}

function functionEvent(before: FunctionStatus | undefined, after: FunctionStatus): EventWithoutSubject[] {
  const { function_key: key, ready, message = "", observed_url: url } = after;
  if (ready === true && before?.ready !== true) {
    const where = url === undefined ? "" : ` at ${url}`;
    return [{ type: "Normal", reason: "FunctionReady", action: "Observe", note: `Function ${key} is ready${where}.` }];
  }
  // While the function still serves, rollouts and scaling are reported on the class only.
  const noticed = url === undefined || isFault(after.reason);
  if (ready === false && before?.ready === true && noticed) {
    const type = isFault(after.reason) ? "Warning" : "Normal";
    return [{ type, reason: "FunctionNotReady", action: "Observe", note: message }];
  }
  return [];
}
