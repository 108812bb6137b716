import { InspectionService } from "@oaas/contracts/grpc";
import { notFound } from "@oaas/foundation";
import { bindService, type BoundService } from "@oaas/rpc";
import type { ScriptedServicesDeps } from "./scripted-services.ts";

/** The inspection of scripted units: one function `echo` with one Deployment and one pod. */
export function scriptedInspection({ units, act }: ScriptedServicesDeps): BoundService {
  const assertHeld = (id: string): void => {
    if (units.get(id) === undefined) throw notFound("deployment", id);
  };
  return bindService(InspectionService, {
    getSignals: (request, call) =>
      act("GetSignals", request, call, () => {
        assertHeld(request.deploymentId);
        const echo = { component: "echo", targetKind: "at_least" };
        return {
          start: "2026-01-05T12:00:00.000Z",
          stepSeconds: request.stepSeconds ?? 30,
          series: [
            { ...echo, signal: "requests_per_second", values: [1.5, Number.NaN, Infinity, 2], target: 40 },
            { ...echo, signal: "error_ratio", values: [], target: Number.NaN, targetKind: "of a later release" },
          ],
          marks: [
            { at: "2026-01-05T12:00:30Z", component: "echo", dimension: "replicas", from: 1, to: 2, action: "apply" },
            { at: "2026-01-05T12:00:40Z", component: "echo", dimension: "cpu", to: Number.NaN, action: "apply" },
          ],
        };
      }),
    getObject: (request, call) =>
      act("GetObject", request, call, () => {
        assertHeld(request.deploymentId);
        if (request.kind !== "Deployment") throw notFound(request.kind, request.name);
        const object =
          request.name === "broken" ? "[1]" : JSON.stringify({ kind: "Deployment", spec: { replicas: 1 } });
        return { apiVersion: "apps/v1", kind: request.kind, name: request.name, namespace: "shop", object };
      }),
    listPods: (request, call) =>
      act("ListPods", request, call, () => {
        assertHeld(request.deploymentId);
        const createdAt = "2026-01-05T12:00:00Z";
        const waiting = { reason: "Unschedulable", message: "no node can run it" };
        return {
          pods: [
            { name: "echo-1", component: "echo", node: "n1", phase: "Running", ready: true, restarts: 2, createdAt },
            { name: "echo-2", component: "echo", phase: "Pending", createdAt, ...waiting },
          ],
          morePods: 3,
        };
      }),
    getConditions: (request, call) =>
      act("GetConditions", request, call, () => {
        assertHeld(request.deploymentId);
        const lastTransitionTime = "2026-01-05T12:00:00Z";
        return {
          conditions: [
            { type: "Available", status: "True", reason: "Ready", message: "all ready", lastTransitionTime },
          ],
          events: [
            { type: "Normal", reason: "Available", message: "all ready", count: 1, at: lastTransitionTime },
            { type: "Warning", reason: "NFRViolated", message: "too slow", count: 2 },
          ],
        };
      }),
  });
}
