import type { JsonObject } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { hasObject, isSet, member, numberAt, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { AGE, column, isTerminating, NAME, orElse, formatAge } from "./cells.ts";

/** The status of a pod, as in `kubectl get pods`. */
interface PodSummary {
  readonly reason: string;
  readonly ready: number;
  readonly total: number;
  readonly restarts: number;
  /** When a container last terminated before a restart; empty for never. */
  readonly lastRestart: string;
}

export const podColumns: readonly Column[] = [
  NAME,
  column("Ready", (pod) => {
    const { ready, total } = summaryOf(pod);
    return `${ready}/${total}`;
  }),
  column("Status", (pod) => statusText(pod)),
  column("Restarts", (pod, now) => {
    const { restarts, lastRestart } = summaryOf(pod);
    return restarts === 0 || lastRestart === "" ? String(restarts) : `${restarts} (${formatAge(lastRestart, now)} ago)`;
  }),
  AGE,
  column("IP", (pod) => orElse(textAt(objectsAt(objectAt(pod, "status"), "podIPs")[0] ?? {}, "ip"), "<none>"), {
    isWide: true,
  }),
  column("Node", (pod) => orElse(textAt(objectAt(pod, "spec"), "nodeName"), "<none>"), { isWide: true }),
  column("Nominated Node", (pod) => orElse(textAt(objectAt(pod, "status"), "nominatedNodeName"), "<none>"), {
    isWide: true,
  }),
  column("Readiness Gates", gatesText, { isWide: true }),
];

function statusText(pod: JsonObject): string {
  const status = objectAt(pod, "status");
  const isOver = ["Succeeded", "Failed"].includes(textAt(status, "phase"));
  if (isTerminating(pod) && textAt(status, "reason") === "NodeLost") return "Unknown";
  return isTerminating(pod) && !isOver ? "Terminating" : summaryOf(pod).reason;
}

function gatesText(pod: JsonObject): string {
  const gates = objectsAt(objectAt(pod, "spec"), "readinessGates");
  if (gates.length === 0) return "<none>";
  const conditions = objectsAt(objectAt(pod, "status"), "conditions");
  const open = gates.filter((gate) => isTrue(conditions, textAt(gate, "conditionType")));
  return `${open.length}/${gates.length}`;
}

function isTrue(conditions: readonly JsonObject[], type: string): boolean {
  return conditions.some((condition) => textAt(condition, "type") === type && textAt(condition, "status") === "True");
}

function summaryOf(pod: JsonObject): PodSummary {
  const [spec, status] = [objectAt(pod, "spec"), objectAt(pod, "status")];
  const sidecars = new Set(
    objectsAt(spec, "initContainers")
      .filter((container) => textAt(container, "restartPolicy") === "Always")
      .map((container) => textAt(container, "name")),
  );
  const total = objectsAt(spec, "containers").length + sidecars.size;
  const conditions = objectsAt(status, "conditions");
  const isGated = conditions.some(
    (each) => textAt(each, "type") === "PodScheduled" && textAt(each, "reason") === "SchedulingGated",
  );
  const reason = isGated ? "SchedulingGated" : textAt(status, "reason") || textAt(status, "phase");
  const first = initialising(spec, status, sidecars);
  if (first.reason !== undefined && !isTrue(conditions, "Initialized")) {
    return {
      reason: first.reason,
      ready: first.ready,
      total,
      restarts: first.restarts,
      lastRestart: first.lastRestart,
    };
  }
  const started = objectsAt(status, "initContainerStatuses").filter((each) => sidecars.has(textAt(each, "name")));
  const own = objectsAt(status, "containerStatuses");
  const running = own.filter((each) => isSet(each, "ready") && hasObject(objectAt(each, "state"), "running"));
  return {
    reason: runningReason(own, first.reason ?? reason, running.length > 0, isTrue(conditions, "Ready")),
    ready: first.ready + running.length,
    total,
    restarts: restartsOf([...started, ...own]),
    lastRestart: latest([...started, ...own]),
  };
}

interface Initialising {
  /** Why the pod is not started; undefined when it is. */
  readonly reason?: string;
  readonly ready: number;
  readonly restarts: number;
  readonly lastRestart: string;
}

/** Checks init containers up to the first unfinished one. */
function initialising(spec: JsonObject, status: JsonObject, sidecars: ReadonlySet<string>): Initialising {
  const statuses = objectsAt(status, "initContainerStatuses");
  let ready = 0;
  for (const [index, container] of statuses.entries()) {
    const state = objectAt(container, "state");
    const terminated = objectAt(state, "terminated");
    if (hasObject(state, "terminated") && (numberAt(terminated, "exitCode") ?? 0) === 0) continue;
    if (sidecars.has(textAt(container, "name")) && isSet(container, "started")) {
      if (isSet(container, "ready")) ready += 1;
      continue;
    }
    const seen = statuses.slice(0, index + 1);
    const waiting = textAt(objectAt(state, "waiting"), "reason");
    const initProgress = `Init:${index}/${objectsAt(spec, "initContainers").length}`;
    const isWaiting = waiting !== "" && waiting !== "PodInitializing";
    const reason = hasObject(state, "terminated")
      ? `Init:${endText(terminated)}`
      : isWaiting
        ? `Init:${waiting}`
        : initProgress;
    return { reason, ready, restarts: restartsOf(seen), lastRestart: latest(seen) };
  }
  return { ready, restarts: 0, lastRestart: "" };
}

/** Why a container terminated. */
function endText(terminated: JsonObject): string {
  const signal = numberAt(terminated, "signal") ?? 0;
  if (textAt(terminated, "reason") !== "") return textAt(terminated, "reason");
  return signal === 0 ? `ExitCode:${numberAt(terminated, "exitCode") ?? 0}` : `Signal:${signal}`;
}

/** The reason of the first container that has one; completed ones yield to running or failed ones. */
function runningReason(statuses: readonly JsonObject[], before: string, hasRunning: boolean, isReady: boolean): string {
  let reason = before;
  let failure = "";
  for (const container of statuses.toReversed()) {
    const state = objectAt(container, "state");
    const waiting = textAt(objectAt(state, "waiting"), "reason");
    if (waiting !== "") reason = waiting;
    else if (hasObject(state, "terminated")) {
      reason = endText(objectAt(state, "terminated"));
      if ((numberAt(objectAt(state, "terminated"), "exitCode") ?? 0) !== 0) failure = reason;
    }
  }
  if (reason !== "Completed") return reason;
  if (hasRunning && isReady) return "Running";
  return failure === "" ? (hasRunning ? "NotReady" : reason) : failure;
}

function restartsOf(statuses: readonly JsonObject[]): number {
  return statuses.reduce((sum, each) => sum + (numberAt(each, "restartCount") ?? 0), 0);
}

function latest(statuses: readonly JsonObject[]): string {
  const ends = statuses.map((each) => member(objectAt(each, "lastState", "terminated"), "finishedAt"));
  return (
    ends
      .filter((end) => typeof end === "string")
      .toSorted()
      .at(-1) ?? ""
  );
}
