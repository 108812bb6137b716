import { Fault, notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { KubeObject, ObjectKey } from "@oaas/kube-core";
import type { KubeClient, ResourceType } from "@oaas/kube-runtime";
import { NOOP_LOGGER } from "@oaas/observability";
import { expect, test } from "vitest";
import { ReferenceChecker } from "./reference-checker.ts";

/** A cluster that answers for objects by `Kind name`; an entry may be a fault. */
function clusterWith(objects: Readonly<Record<string, Fault | true>>) {
  const time = virtualAmbient(1);
  const reads: string[] = [];
  const state = { ...objects };
  const answer = (type: ResourceType<KubeObject>, how: string, name: string): boolean => {
    reads.push(`${how} ${type.kind} ${name} ${type.view ?? "all"}`);
    const found = state[`${type.kind} ${name}`];
    if (found instanceof Fault) throw found;
    return found === true;
  };
  const resource = (type: ResourceType<KubeObject>) => ({
    get: (key: ObjectKey) =>
      answer(type, "get", key.name)
        ? Promise.resolve({ metadata: { name: key.name } })
        : Promise.reject(notFound(type.kind, key.name)),
    list: ({ fieldSelector = "" }) => {
      const name = fieldSelector.replace("metadata.name=", "");
      return Promise.resolve({ items: answer(type, "list", name) ? [{}] : [] });
    },
  });
  const client = { resource: (type: ResourceType<KubeObject>) => wrap(resource(type)) } as unknown as KubeClient;
  const checker = new ReferenceChecker({ client, clock: time.clock, logger: NOOP_LOGGER });
  return { checker, reads, state, time: time.time };
}

/** Faults reject, as those of the real client do. */
function wrap<T extends Record<string, (...args: never[]) => Promise<unknown>>>(api: T): T {
  return Object.fromEntries(
    Object.entries(api).map(([name, call]) => [name, async (...args: never[]) => call(...args)]),
  ) as T;
}

const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "order" },
  spec: {
    template: {
      spec: {
        serviceAccountName: "runner",
        priorityClassName: "urgent",
        containers: [{ envFrom: [{ secretRef: { name: "keys" } }, { configMapRef: { name: "settings" } }] }],
      },
    },
  },
};

const { signal } = new AbortController();
const missingIn = async ({ checker }: ReturnType<typeof clusterWith>, more: readonly object[] = []) =>
  (await checker.findMissing("shop", [DEPLOYMENT, ...more] as never, signal)).map(
    ({ kind, name }) => `${kind} ${name}`,
  );

test("finds what does not exist, and reads only metadata", async () => {
  const cluster = clusterWith({ "ServiceAccount runner": true });
  expect(await missingIn(cluster)).toEqual(["Secret keys", "ConfigMap settings", "PriorityClass urgent"]);
  expect(cluster.reads.toSorted()).toEqual([
    "get PriorityClass urgent metadata",
    "get Secret keys metadata",
    "list ConfigMap settings metadata",
    "list ServiceAccount runner metadata",
  ]);
});

test("does not miss the children of the class itself", async () => {
  const children = [
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "runner" } },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" } },
  ];
  expect(await missingIn(clusterWith({}), children)).toEqual(["Secret keys", "PriorityClass urgent"]);
});

test.each([
  { why: "without permission", fault: new Fault({ kind: "permission-denied", action: "get" }, "secrets is forbidden") },
  { why: "while the API does not answer", fault: unavailable("kubernetes", "connection refused") },
])("an object counts as existing $why", async ({ fault }) => {
  const cluster = clusterWith({ "Secret keys": fault });
  expect(await missingIn(cluster)).not.toContain("Secret keys");
});

test("asks again soon for what is missing, later for what exists, and rarely without permission", async () => {
  const forbidden = new Fault({ kind: "permission-denied", action: "get" }, "secrets is forbidden");
  const cluster = clusterWith({ "ServiceAccount runner": true, "Secret keys": forbidden });
  const readsAfter = async (seconds: number): Promise<readonly string[]> => {
    cluster.reads.length = 0;
    await cluster.time.advance(seconds * 1000);
    await missingIn(cluster);
    return cluster.reads.map((read) => read.split(" ")[1] ?? "").toSorted();
  };
  expect(await readsAfter(0)).toHaveLength(4);
  expect(await readsAfter(0.5)).toEqual([]);
  expect(await readsAfter(1)).toEqual(["ConfigMap", "PriorityClass"]);
  expect(await readsAfter(70)).toEqual(["ConfigMap", "PriorityClass", "ServiceAccount"]);
  expect(await readsAfter(301)).toEqual(["ConfigMap", "PriorityClass", "Secret", "ServiceAccount"]);
});

test("an object that appears is no longer missing", async () => {
  const cluster = clusterWith({ "ServiceAccount runner": true, "PriorityClass urgent": true, "Secret keys": true });
  expect(await missingIn(cluster)).toEqual(["ConfigMap settings"]);
  cluster.state["ConfigMap settings"] = true;
  await cluster.time.advance(1500);
  expect(await missingIn(cluster)).toEqual([]);
});
