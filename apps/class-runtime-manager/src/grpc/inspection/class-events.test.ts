import { Fault } from "@oaas/foundation";
import type { KubeClient } from "@oaas/kube-runtime";
import { expect, it } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import { createClassEvents } from "./class-events.ts";

const OBJECT = { metadata: { name: "web", namespace: "shop", uid: "u" } } as StoredClass;
const signal = new AbortController().signal;

function eventsFrom(listAll: (query: object) => AsyncGenerator<object>) {
  const client = { resource: () => ({ listAll }) } as unknown as Pick<KubeClient, "resource">;
  return createClassEvents(client)(OBJECT, signal);
}

it("lists the Events about this object, not about an earlier one of its name", async () => {
  const queries: object[] = [];
  const events = await eventsFrom(async function* (query) {
    queries.push(query);
    yield { reason: "Available" };
  });
  expect(events).toEqual([{ reason: "Available" }]);
  expect(queries).toEqual([{ namespace: "shop", fieldSelector: "involvedObject.uid=u" }]);
});

it("reads a bounded number of Events", async () => {
  const events = await eventsFrom(async function* () {
    for (;;) yield {};
  });
  expect(events).toHaveLength(2000);
});

it("reports a missing permission of the manager as its own, not as one of the caller", async () => {
  const denied = new Fault({ kind: "permission-denied", action: "list" }, "events is forbidden");
  const listing = eventsFrom(async function* (query) {
    if ("namespace" in query) throw denied;
    yield {};
  });
  await expect(listing).rejects.toMatchObject({
    kind: "failed-precondition",
    message: expect.stringContaining("ClusterRole"),
  });
});
