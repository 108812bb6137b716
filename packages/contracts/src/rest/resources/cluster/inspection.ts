import {
  COUNT_RANGE,
  type RuntimeCondition,
  type RuntimeConditions,
  type RuntimeEvent,
  type RuntimeObject,
  type RuntimePod,
  type RuntimePods,
  type RuntimeSignals,
  type SignalMark,
  type SignalSeries,
} from "@oaas/models";
import { z } from "zod";
import {
  array,
  boolean,
  integer,
  nested,
  nullable,
  number,
  oneOf,
  optional,
  required,
  resource,
  string,
  type Codec,
} from "../../reading/resource.ts";

/** A schema that is read and written as it is. */
function plain<View extends z.ZodType>(view: View): Codec<z.output<View>, View> {
  return { read: view as never, view, write: (value) => value };
}

/** One signal of one component. */
export const signalSeries = resource<SignalSeries>()({
  component: required("component", "Function key, or `odgm`.", string()),
  signal: required(
    "signal",
    "`requests_per_second`, `latency_p95_ms`, `latency_p99_ms`, `error_ratio`, `cpu_millicores`, `memory_bytes` or `ready_replicas`.",
    string(),
  ),
  values: required(
    "values",
    "One for each step; null where nothing was measured.",
    array(plain(z.number().nullable())),
  ),
  target: optional("target", "The requirement, or the amount that is requested of Kubernetes.", number()),
  targetKind: optional(
    "target_kind",
    "`at_least` or `at_most` for requirements, `requested` for amounts.",
    oneOf(["at_least", "at_most", "requested"]),
  ),
});

/** A change by enforcement. */
export const signalMark = resource<SignalMark>()({
  at: required("at", "Time of the change.", string()),
  component: required("component", "Function key, or `odgm`.", string()),
  dimension: required("dimension", "`replicas`, `cpu` or `memory`.", string()),
  from: optional("from", "Value before the change.", number()),
  to: required("to", "Value after the change.", number()),
  action: required("action", "`apply` or `revert`.", string()),
});

/** The signals of a class runtime. */
export const runtimeSignals = resource<RuntimeSignals>()({
  start: required("start", "Time of the first value of each series.", string()),
  stepSeconds: required("step_seconds", "Time between values.", integer(COUNT_RANGE)),
  series: required("series", "Signals that were measured or have a target.", array(nested(signalSeries))),
  marks: required("marks", "Changes by enforcement in the range, oldest first.", array(nested(signalMark))),
});

/** One pod. */
export const runtimePod = resource<RuntimePod>()({
  name: required("name", "Pod name.", string()),
  component: required("component", "Function key, or `odgm`.", string()),
  node: nullable("node", "Node; null while the pod is not scheduled.", string()),
  phase: required("phase", "`Pending`, `Running`, `Succeeded`, `Failed`, `Unknown` or `Terminating`.", string()),
  ready: required("ready", "Whether it is ready.", boolean()),
  restarts: required("restarts", "Restarts of all containers.", integer(COUNT_RANGE)),
  createdAt: required("created_at", "Creation time.", string()),
  reason: optional("reason", "Why it is not ready (one CamelCase word).", string()),
  message: optional("message", "Why it is not ready.", string()),
});

/** The pods of a class runtime. */
export const runtimePods = resource<RuntimePods>()({
  pods: required("pods", "Pods by component and name, at most 500.", array(nested(runtimePod))),
  morePods: required("more_pods", "Further pods that are not listed.", integer(COUNT_RANGE)),
});

/** One condition. */
export const runtimeCondition = resource<RuntimeCondition>()({
  type: required("type", "Such as `Available`, `Progressing`, `Degraded` or `NfrObserved`.", string()),
  status: required("status", "`True`, `False` or `Unknown`.", string()),
  reason: required("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: required("message", "Human-readable message.", string()),
  lastTransitionTime: nullable("last_transition_time", "Time of the last change of the status.", string()),
});

/** One Kubernetes Event. */
export const runtimeEvent = resource<RuntimeEvent>()({
  type: required("type", "`Normal` or `Warning`.", string()),
  reason: required("reason", "Machine-readable reason (one CamelCase word).", string()),
  message: required("message", "Human-readable message.", string()),
  count: required("count", "Number of occurrences.", integer(COUNT_RANGE)),
  at: nullable("at", "Time of the last occurrence; null when unknown.", string()),
});

/** The conditions of a class runtime. */
export const runtimeConditions = resource<RuntimeConditions>()({
  conditions: required("conditions", "Present conditions.", array(nested(runtimeCondition))),
  events: required(
    "events",
    "What happened to it, newest first, at most 200: the Kubernetes Events that the cluster still keeps.",
    array(nested(runtimeEvent)),
  ),
});

/** One Kubernetes object. */
export const runtimeObject = resource<RuntimeObject>()({
  apiVersion: required("api_version", "Kubernetes API version.", string()),
  kind: required("kind", "Kubernetes kind.", string()),
  name: required("name", "Object name.", string()),
  namespace: nullable("namespace", "Namespace; null for cluster-scoped objects.", string()),
  object: required(
    "object",
    "The object without managed fields. `***` stands for secrets: the content of Secrets and ConfigMaps, and values whose name or text shows a credential.",
    plain(z.record(z.string(), z.unknown())),
  ),
});
