import { expect, test } from "vitest";
import type { Observation } from "../observation/observation.ts";
import { evaluate } from "../evaluate.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const workload = { apiVersion: "apps/v1", kind: "Deployment", namespace: "shop", name: "place" };

function observe(more: Partial<Observation> & { readonly ready?: string; readonly owner?: string }): Observation {
  const { ready, owner = "keda", ...rest } = more;
  const deployment = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "place", generation: 1 },
    spec: { replicas: 0 },
    status: { observedGeneration: 1 },
  };
  const scaler = {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata: { name: "place" },
    spec: { scaleTargetRef: { name: "place" } },
    status: {
      conditions: ready === undefined ? [] : [{ type: "Ready", status: ready, message: "no such trigger" }],
    },
  };
  return {
    subject: { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "order" },
    generation: 1,
    deleting: false,
    problems: [],
    children: [deployment, scaler],
    pods: [],
    replicaSets: [],
    nodes: [],
    events: [],
    expected: {
      template: { name: "mine", basis: "explicit" },
      children: [],
      functions: [
        {
          functionKey: "place",
          runtime: "workload",
          workload,
          service: "",
          port: 80,
          predictedUrl: "http://place",
          replicas: 0,
          replicasOwner: owner,
        },
      ],
    },
    ...rest,
  };
}

test.each([
  { why: "its scaler works", ready: "True" },
  { why: "its scaler has not reported yet", ready: undefined },
])("a function at zero is available when $why", ({ ready }) => {
  const { status } = evaluate(undefined, observe(ready === undefined ? {} : { ready }), NOW);
  expect(status).toMatchObject({
    phase: "available",
    message: "Ready: 1 function (scaled to zero).",
    functions: [
      {
        ready: true,
        serving: true,
        desired_replicas: 0,
        ready_replicas: 0,
        reason: "ScaledToZero",
        message: "Function place is scaled to zero; a request starts it.",
        observed_url: "http://place",
      },
    ],
  });
});

test("a function at zero does not serve when its scaler reports that it does not work", () => {
  const { status } = evaluate(undefined, observe({ ready: "False" }), NOW);
  expect(status).toMatchObject({
    phase: "degraded",
    reason: "ScalerFailed",
    functions: [{ ready: false, serving: false }],
  });
  expect(status.message).toBe("Function place: ScaledObject place cannot start the first replica: no such trigger.");
});

test("is not concluded from missing pods of a Knative Service that may not be read", () => {
  const service = {
    apiVersion: "serving.knative.dev/v1",
    kind: "Service",
    metadata: { name: "place", generation: 1 },
    status: { observedGeneration: 1, conditions: [{ type: "Ready", status: "True" }] },
  };
  const given = observe({ owner: "knative", children: [service] });
  const [fn] = given.expected?.functions ?? [];
  const functions = fn && [{ ...fn, workload: { ...workload, apiVersion: service.apiVersion, kind: "Service" } }];
  const expected = given.expected && functions && { ...given.expected, functions };
  const stateOf = (arePodsKnown: boolean) =>
    evaluate(undefined, { ...given, expected, arePodsKnown }, NOW).status.functions?.[0];
  expect(stateOf(false)).toMatchObject({ ready: true, desired_replicas: 1 });
  expect(stateOf(true)).toMatchObject({ ready: true, desired_replicas: 0, reason: "ScaledToZero" });
});
