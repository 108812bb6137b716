import type { DeploymentKey } from "@oaas/models";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { Collection } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import type { ReplanRecord } from "../records/replan-record.ts";
import { PACKAGES } from "../registry/package-records.ts";
import { DeploymentStore } from "../stores/deployment-store.ts";
import { ReplanStore } from "../stores/replan-store.ts";
import { formatEventId } from "./event-id.ts";
import { EventLog } from "./event-log.ts";
import { LogEventFeed } from "./event-feed.ts";
import { StoredEvents } from "./stored-events.ts";
import { storedTopics } from "./stored-topics.ts";

const KEY = "orders" as DeploymentKey;
const PROPOSED: ReplanRecord = {
  state: "proposed",
  reason: "cluster_lost",
  message: "lost a: units.a was removed; units.b was added",
  since: "2026-01-01T00:00:00.000Z",
  lostClusters: [],
  basis: 1,
  changes: [],
};

test("a new plan of a running deployment is an event of type replan, also when it is applied", async () => {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  const replans = new ReplanStore(store);
  const log = new EventLog("e");
  const topics = storedTopics(store, {
    packages: new Collection(store, PACKAGES),
    deployments: new DeploymentStore(store).deployments,
  });
  const events = new StoredEvents({ store, topics, log, ambient });
  await events.start();
  await store.commit(replans.stageReplan(KEY, undefined, PROPOSED));
  const applied: ReplanRecord = { ...PROPOSED, state: "applied", revision: 2 };
  await store.commit(replans.stageReplan(KEY, await replans.replan(KEY), applied));
  // Another change of the deployment deletes the record, which emits no event.
  await store.commit(replans.replans.stageDelete((await replans.replan(KEY))!));
  await ambient.time.advance(10);
  const stop = new AbortController();
  const seen: unknown[] = [];
  const following = (async () => {
    const feed = new LogEventFeed(log, ambient.clock);
    for await (const event of feed.follow({
      topic: "deployment",
      key: KEY,
      lastEventId: formatEventId({ revision: 1, epoch: "other", sequence: 0 }),
      signal: stop.signal,
    }))
      seen.push(event);
  })();
  await ambient.time.advance(10);
  stop.abort();
  await following;
  await events.close();
  await store.close();
  expect(seen.filter((event) => (event as { type: string }).type !== "resync")).toMatchObject([
    { topic: "deployment", type: "replan", key: KEY, object: { state: "proposed", message: PROPOSED.message } },
    { topic: "deployment", type: "replan", key: KEY, object: { state: "applied", revision: 2 } },
  ]);
});
