import { classRuntime } from "@oaas/contracts/crd";
import { VirtualTime } from "@oaas/foundation/virtual";
import { expect, test } from "vitest";
import type { Observation } from "../../lifecycle/observation/observation.ts";
import { problem } from "../../lifecycle/observation/problem.ts";
import { createExplainer } from "./explainer.ts";
import type { StoredClass } from "../../classes/ports.ts";

test("observes the object with the signal of the caller", async () => {
  const object = classRuntime.parse({
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { name: "my-app-1", namespace: "shop", uid: "u", resourceVersion: "1" },
    spec: { package_class_key: "shop.Order", state_spec: {}, origin: { deployment_id: "My.App" } },
  }) as StoredClass;
  const { signal } = new AbortController();
  const received: unknown[] = [];
  const observation: Observation = {
    subject: { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "my-app-1", namespace: "shop" },
    generation: 1,
    deleting: false,
    problems: [problem("TemplateMissing", 'template "gpu" does not exist')],
    children: [],
    pods: [],
    replicaSets: [],
    nodes: [],
    events: [],
  };
  const explainer = createExplainer(async (...args) => {
    received.push(...args);
    return observation;
  }, new VirtualTime());
  const explanation = await explainer.explain(object, undefined, signal);
  expect(received).toEqual([object, signal]);
  expect(explanation).toMatchObject({ deploymentId: "My.App", verdict: "permanent", root: { name: "Order" } });
  expect(explanation.summary).toContain("gpu");
});
