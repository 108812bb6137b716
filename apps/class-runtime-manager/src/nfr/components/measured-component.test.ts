import { classRuntime } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { describe, expect, it } from "vitest";
import { measuredComponents } from "./measured-component.ts";

const container = {
  image: "example.test/fn:1",
  resources: { requests: { cpu: "250m", memory: "256Mi" }, limits: { cpu: "1", memory: "512Mi" } },
};
const template = { spec: { containers: [container] } };
const labelled = (component: string, fn?: string) => ({
  labels: { "oaas.io/component": component, ...(fn === undefined ? {} : { "oaas.io/function": fn }) },
  annotations: fn === undefined ? {} : { "oaas.io/function-key": `Order.${fn}` },
});
const child = (apiVersion: string, kind: string, name: string, labels: object, spec: object): KubeObject =>
  ({ apiVersion, kind, metadata: { name, ...labels }, spec }) as KubeObject;

const parsed = classRuntime.parse({
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "web", namespace: "ns" },
  spec: {
    origin: { deployment_id: "d-1" },
    nfr_requirements: { max_latency_ms: 200, availability: 0.999, cpu_utilization_target: 0.6 },
    functions: [
      {
        function_key: "Order.add",
        nfr_requirements: { max_latency_ms: 50 },
        provision_config: { container_image: "i:1", min_scale: 2, max_scale: 6, memory_limit: "1Gi" },
      },
      { function_key: "Order.list", provision_config: { container_image: "i:1" } },
    ],
  },
});

const children = [
  child("apps/v1", "Deployment", "web-fn-0", labelled("function", "add"), { replicas: 3, template }),
  child("serving.knative.dev/v1", "Service", "web-fn-1", labelled("function", "list"), { template }),
  child("apps/v1", "StatefulSet", "web-odgm", labelled("odgm"), { replicas: 1, template }),
  child("v1", "Service", "web-fn-0", labelled("function", "add"), {}),
];
const pods = [
  child("v1", "Pod", "web-fn-0-a", labelled("function", "add"), {}),
  child("v1", "Pod", "web-fn-1-a", labelled("function", "list"), {}),
  child("v1", "Pod", "web-fn-1-b", labelled("function", "list"), {}),
  child("v1", "Pod", "web-odgm-0", labelled("odgm"), {}),
];

describe("measuredComponents", () => {
  const [add, list, odgm, ...others] = measuredComponents({ class: parsed, uid: "u", children, pods, maxReplicas: 20 });

  it("finds functions and the state store by their workloads", () => {
    expect(others).toEqual([]);
    expect(add).toMatchObject({
      component: "Order.add",
      target: { key: "u/Order.add", namespace: "ns", owner: "web", deploymentId: "d-1", functionLabel: "add", pods: ["web-fn-0-a"] },
    }); // prettier-ignore
    expect(list?.target.workloads).toEqual([{ kind: "Knative", namespace: "ns", name: "web-fn-1" }]);
    expect(odgm?.component).toBe("odgm");
    expect(odgm?.target.functionLabel).toBeUndefined();
    expect(odgm?.target.pods).toEqual(["web-odgm-0"]);
  });

  it("has the same order whatever the order of the cache", () => {
    const names = (of: readonly KubeObject[]) =>
      measuredComponents({ class: parsed, uid: "u", children: of, pods, maxReplicas: 20 }).map(
        ({ component }) => component,
      );
    expect(names(children.toReversed())).toEqual(names(children));
  });

  it("takes requirements of the function before those of the class, and none for the state store", () => {
    expect(add?.requirements).toEqual({ maxLatencyMs: 50, availability: 0.999 });
    expect(list?.requirements).toEqual({ maxLatencyMs: 200, availability: 0.999 });
    expect(odgm?.requirements).toEqual({});
    expect(add?.target.maxLatencyMs).toBe(50);
  });

  it("reads replicas and their limits; the pods of a Knative Service count", () => {
    expect(add?.scale).toEqual({
      current: 3,
      min: 2,
      max: 6,
      canScaleToZero: false,
      cpuRequestMillicores: 250,
      cpuTarget: 0.6,
    });
    expect(list?.scale).toMatchObject({ current: 2, max: 20, canScaleToZero: true });
    expect(list?.scale.min).toBeUndefined();
  });

  it("takes only limits of the user as limits of recommendations", () => {
    expect(add?.container).toEqual({
      cpuRequest: 250,
      cpuLimit: 1000,
      memoryRequest: 256 * 2 ** 20,
      memoryLimit: 512 * 2 ** 20,
    });
    expect(add?.limits).toEqual({ memory: 2 ** 30 });
    expect(list?.limits).toEqual({});
  });

  it("changes the revision with the image and the resources", () => {
    const bigger = { ...container, resources: { requests: { cpu: "500m" } } };
    const changed = child("apps/v1", "Deployment", "web-fn-0", labelled("function", "add"), { replicas: 3, template: { spec: { containers: [bigger] } } }); // prettier-ignore
    const [again] = measuredComponents({ class: parsed, uid: "u", children: [changed], pods, maxReplicas: 20 });
    expect(again?.revision).not.toBe(add?.revision);
  });

  it("takes the resources of the oldest pod, which may have been resized, and learns its capacity again", () => {
    const pod = (name: string, creationTimestamp: string, cpu: string): KubeObject =>
      child(
        "v1",
        "Pod",
        name,
        { ...labelled("function", "add"), creationTimestamp },
        {
          containers: [{ name: "function", resources: { requests: { cpu } } }],
        },
      );
    const named = { spec: { containers: [{ name: "function", ...container }] } };
    const deployment = child("apps/v1", "Deployment", "web-fn-0", labelled("function", "add"), { template: named });
    const measure = (...live: readonly KubeObject[]) =>
      measuredComponents({ class: parsed, uid: "u", children: [deployment], pods: live, maxReplicas: 20 })[0];
    const old = pod("web-fn-0-b", "2026-01-01T00:00:00Z", "400m");
    const resized = measure(pod("web-fn-0-a", "2026-01-02T00:00:00Z", "250m"), old);
    expect(resized?.container.cpuRequest).toBe(400);
    expect(resized?.scale.cpuRequestMillicores).toBe(400);
    expect(resized?.revision).not.toBe(measure()?.revision);
  });
});
