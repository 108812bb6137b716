import type { Violation } from "@oaas/foundation";
import { runtimeConditions, runtimeObject, runtimePods, runtimeSignals } from "../resources/cluster/inspection.ts";
import { checkClusterAliases, clusterQuery, oneCluster, parameters, queryInteger, queryText } from "./query.ts";
import { BASE, type Route } from "./route.ts";

/** The longest range of signals in seconds, and the most values of a series. */
const RANGE_SECONDS = { min: 60, max: 604_800 };
const MAX_STEPS = 720;
const DEFAULT_RANGE_SECONDS = 3600;

const signalQuery = parameters(
  {
    ...clusterQuery,
    component: queryText(),
    range_seconds: queryInteger(RANGE_SECONDS),
    step_seconds: queryInteger({ min: 1, max: RANGE_SECONDS.max }),
  },
  (members) => [...checkClusterAliases(members), ...checkStep(members)],
);

/** The number of steps is limited, so that a response is. */
function checkStep(members: Readonly<Record<string, unknown>>): readonly Violation[] {
  const { range_seconds: range = DEFAULT_RANGE_SECONDS, step_seconds: step } = members;
  if (typeof range !== "number" || typeof step !== "number") return [];
  const least = Math.ceil(range / MAX_STEPS);
  if (step >= least && step <= range) return [];
  const fix = `use ${least} to ${range}: a range has at most ${MAX_STEPS} steps`;
  return [{ path: "$.step_seconds", message: `${step} does not fit the range of ${range} s`, fix }];
}

const read = { method: "GET", tag: "inspection", role: "viewer", since: "ours" } as const;
const faults = [
  "not-found",
  "failed-precondition",
  "resource-exhausted",
  "unavailable",
  "deadline-exceeded",
  "unimplemented",
] as const;

/** What a class runtime consists of and how it behaves, read from its cluster. */
export const inspectionRoutes = {
  getClassRuntimeSignals: {
    ...read,
    path: `${BASE}/class-runtimes/{id}/signals`,
    summary: "Read the measured signals of a class runtime over a range that ends now",
    query: signalQuery,
    response: { status: 200, description: "Signals, targets and changes by enforcement.", schema: runtimeSignals.view },
    faults,
  },
  getClassRuntimeObject: {
    ...read,
    path: `${BASE}/class-runtimes/{id}/objects/{kind}/{object}`,
    summary: "Read a Kubernetes object of a class runtime, with secrets masked",
    query: parameters({ ...clusterQuery, api_version: queryText() }, checkClusterAliases),
    response: { status: 200, description: "The object.", schema: runtimeObject.view },
    faults,
  },
  listClassRuntimePods: {
    ...read,
    path: `${BASE}/class-runtimes/{id}/pods`,
    summary: "List the pods of a class runtime",
    query: oneCluster,
    response: { status: 200, description: "Pods with the reasons why they are not ready.", schema: runtimePods.view },
    faults,
  },
  getClassRuntimeConditions: {
    ...read,
    path: `${BASE}/class-runtimes/{id}/conditions`,
    summary: "Read the conditions of a class runtime and what happened to them",
    query: oneCluster,
    response: { status: 200, description: "Conditions and Kubernetes Events.", schema: runtimeConditions.view },
    faults,
  },
} as const satisfies Readonly<Record<string, Route>>;
