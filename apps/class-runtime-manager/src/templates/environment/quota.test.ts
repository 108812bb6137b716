import { formatQuantity, type KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { demandOf } from "./quota.ts";

const workload = (kind: string, pod: object, spec: object = {}, annotations: object = {}): KubeObject =>
  ({
    apiVersion: kind === "Service" ? "serving.knative.dev/v1" : "apps/v1",
    kind,
    metadata: { name: "a" },
    spec: { ...spec, template: { metadata: { annotations }, spec: pod } },
  }) as KubeObject;
const container = (resources: object, more: object = {}) => ({ name: "c", resources, ...more });
const cpu = (amount: string) => ({ requests: { cpu: amount } });

test.each([
  { case: "requests", child: workload("Deployment", { containers: [container(cpu("2"))] }), want: "2" },
  {
    case: "limits without requests, since Kubernetes requests them",
    child: workload("Deployment", { containers: [container({ limits: { cpu: "3" } })] }, { replicas: 2 }),
    want: "6",
  },
  {
    case: "the largest init container",
    child: workload("Deployment", {
      containers: [container(cpu("1"))],
      initContainers: [container(cpu("4")), container(cpu("2"))],
    }),
    want: "4",
  },
  {
    case: "sidecars beside the containers",
    child: workload("Deployment", {
      containers: [container(cpu("1"))],
      initContainers: [container(cpu("2"), { restartPolicy: "Always" }), container(cpu("1"))],
    }),
    want: "3",
  },
  {
    case: "resources of the pod",
    child: workload("Deployment", { resources: cpu("5"), containers: [container(cpu("1"))] }),
    want: "5",
  },
  {
    case: "the minimum of a Knative Service",
    child: workload("Service", { containers: [container(cpu("1"))] }, {}, { "autoscaling.knative.dev/minScale": "3" }),
    want: "3",
  },
  {
    case: "the minimum of a Knative Service in its other spelling",
    child: workload("Service", { containers: [container(cpu("1"))] }, {}, { "autoscaling.knative.dev/min-scale": "3" }),
    want: "3",
  },
])("counts $case", ({ child, want }) => {
  expect(formatQuantity(demandOf([child]).cpu)).toBe(want);
});

test("counts the claims of ephemeral volumes per pod", () => {
  const claim = { spec: { resources: { requests: { storage: "2Gi" } } } };
  const pod = { containers: [], volumes: [{ name: "v", ephemeral: { volumeClaimTemplate: claim } }] };
  expect(formatQuantity(demandOf([workload("Deployment", pod, { replicas: 3 })]).storage)).toBe("6Gi");
});
