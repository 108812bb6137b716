import type {
  GetConditionsResponse,
  GetObjectResponse,
  GetSignalsResponse,
  ListPodsResponse,
  SignalSeries as WireSeries,
} from "@oaas/contracts/grpc";
import { omitUndefined } from "@oaas/contracts/rest";
import { parseJson, unavailable } from "@oaas/foundation";
import type {
  RuntimeConditions,
  RuntimeObject,
  RuntimePods,
  RuntimeSignals,
  SignalSeries,
  SignalTargetKind,
} from "@oaas/models";
import { nonEmpty } from "./non-empty.ts";

/** The signals of a class runtime; numbers that are not finite become gaps. */
export function signalsFromWire({ start, stepSeconds, series, marks }: GetSignalsResponse): RuntimeSignals {
  return {
    start,
    stepSeconds,
    series: series.map(seriesFromWire),
    marks: marks
      .filter(({ to }) => Number.isFinite(to))
      .map(({ at, component, dimension, from, to, action }) =>
        omitUndefined({ at, component, dimension, from: finite(from), to, action }),
      ),
  };
}

const TARGET_KINDS: readonly SignalTargetKind[] = ["at_least", "at_most", "requested"];

function seriesFromWire({ component, signal, values, target, targetKind }: WireSeries): SignalSeries {
  return omitUndefined({
    component,
    signal,
    values: values.map((value) => finite(value) ?? null),
    target: finite(target),
    targetKind: TARGET_KINDS.find((kind) => kind === targetKind),
  });
}

function finite(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

/** An object of a class runtime. Throws unavailable when the peer sends no JSON object. */
export function objectFromWire({ apiVersion, kind, name, namespace, object }: GetObjectResponse): RuntimeObject {
  const parsed = parseJson(object);
  if (!parsed.ok || typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
    throw unavailable("the class runtime manager", `the manager sent ${kind} "${name}" in a form that is not JSON`);
  }
  const members = parsed.value as Readonly<Record<string, unknown>>;
  return omitUndefined({ apiVersion, kind, name, namespace: nonEmpty(namespace), object: members });
}

export function podsFromWire({ pods, morePods }: ListPodsResponse): RuntimePods {
  return {
    pods: pods.map(({ name, component, node, phase, ready, restarts, createdAt, reason, message }) =>
      omitUndefined({
        name,
        component,
        node: nonEmpty(node),
        phase,
        ready,
        restarts,
        createdAt,
        reason: nonEmpty(reason),
        message: nonEmpty(message),
      }),
    ),
    morePods,
  };
}

export function conditionsFromWire({ conditions, events }: GetConditionsResponse): RuntimeConditions {
  return {
    conditions: conditions.map(({ type, status, reason, message, lastTransitionTime }) =>
      omitUndefined({ type, status, reason, message, lastTransitionTime: nonEmpty(lastTransitionTime) }),
    ),
    events: events.map(({ type, reason, message, count, at }) =>
      omitUndefined({ type, reason, message, count, at: nonEmpty(at) }),
    ),
  };
}
