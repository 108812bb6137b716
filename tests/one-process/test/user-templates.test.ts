import type { DeploymentTemplate } from "@oaas/contracts/crd";
import type { KubeObject } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { DEPLOYMENT_TEMPLATES } from "../../../apps/class-runtime-manager/src/controller/kinds/resource-types.ts";
import { ClassCluster } from "../src/class-cluster.ts";

const KEY = { namespace: "default", name: "mine" };
const TEMPLATE: unknown = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "DeploymentTemplate",
  metadata: KEY,
  spec: { template_type: "Deployment", manifests: [{ apiVersion: "apps/v1", kind: "Deployment" }] },
};
const SHORT_MS = 500;

async function withTemplate(): Promise<ClassCluster> {
  const cluster = await ClassCluster.start(1);
  await cluster.client.resource(DEPLOYMENT_TEMPLATES).create(TEMPLATE as DeploymentTemplate & KubeObject);
  await cluster.advance(SHORT_MS);
  return cluster;
}

test("updates used_by when the first class uses a template and when the last one is deleted", async () => {
  await using cluster = await withTemplate();
  const templates = cluster.client.resource(DEPLOYMENT_TEMPLATES);
  const usedBy = async (): Promise<number | undefined> => (await templates.get(KEY)).status?.used_by;
  expect(await usedBy()).toBe(0);

  await cluster.applyClass("order-0", { functions: { a: "1" }, template: "mine" });
  await cluster.advance(SHORT_MS);
  expect(await usedBy()).toBe(1);

  await cluster.advance(60_000);
  await cluster.delete("order-0");
  await cluster.advance(SHORT_MS);
  expect(await usedBy()).toBe(0);
});

test("batches the used_by updates of many classes into few writes", async () => {
  await using cluster = await withTemplate();
  const templates = cluster.client.resource(DEPLOYMENT_TEMPLATES);
  const counts = new Set<string>();
  for (let index = 0; index < 20; index += 1) {
    await cluster.applyClass(`order-${index}`, { functions: { a: "1" }, template: "mine" });
    await cluster.advance(SHORT_MS);
    counts.add((await templates.get(KEY)).metadata.resourceVersion ?? "");
  }
  await cluster.advance(6_000);
  expect((await templates.get(KEY)).status?.used_by).toBe(20);
  expect(counts.size).toBeLessThan(6);
});
