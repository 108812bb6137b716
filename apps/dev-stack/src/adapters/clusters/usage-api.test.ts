import type { KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { answerUsage } from "./usage-api.ts";

const podOf = (namespace: string, name: string): KubeObject =>
  ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { namespace, name, labels: { app: name } },
    spec: { containers: [{ name: "function" }] },
  }) as KubeObject;

const ports = {
  clock: { now: () => 0, monotonic: () => 0 },
  pods: () => [podOf("a", "web"), podOf("a", "api"), podOf("b", "web"), podOf("a", "idle")],
  usageOf: ({ metadata }: KubeObject) =>
    metadata.name === "idle" ? undefined : { cpuMillicores: 102.5, memoryBytes: 1024.4 },
};

function ask(path: string): unknown {
  return answerUsage(`/apis/metrics.k8s.io/v1beta1${path}`, ports);
}

const namesOf = (answer: unknown): readonly string[] =>
  (answer as { items: { metadata: { namespace: string; name: string } }[] }).items.map(
    ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
  );

test("lists the usage of measured pods by namespace and labels", () => {
  expect(namesOf(ask("/pods"))).toEqual(["a/web", "a/api", "b/web"]);
  expect(namesOf(ask("/namespaces/a/pods"))).toEqual(["a/web", "a/api"]);
  expect(namesOf(ask("/namespaces/a/pods?labelSelector=app%3Dweb"))).toEqual(["a/web"]);
  expect(ask("/namespaces/b/pods")).toMatchObject({
    kind: "PodMetricsList",
    items: [{ containers: [{ name: "function", usage: { cpu: "102500000n", memory: "1024" } }] }],
  });
});

test("serves its discovery document, and nothing else", () => {
  expect(ask("")).toMatchObject({ kind: "APIResourceList", resources: [{ name: "pods", kind: "PodMetrics" }] });
  for (const path of ["/nodes", "/namespaces/a", "/namespaces/a/pods/web", "/pods?labelSelector=("])
    expect(ask(path), path).toBeUndefined();
  expect(answerUsage("//[", ports), "not a URL").toBeUndefined();
});
