import { defineConfig, loadConfig } from "@oaas/config";
import { realAmbient } from "@oaas/foundation/real";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { openMemoryStore } from "@oaas/storage/memory";
import { eventually } from "@oaas/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { secretFolder } from "../src/adapters/secret-folder.ts";
import { StoredClusterAdmin } from "../src/clusters/cluster-admin.ts";
import { ClusterReferences } from "../src/clusters/cluster-references.ts";
import { clusterVariables } from "../src/clusters/configuration/cluster-variables.ts";
import { LogEventFeed } from "../src/events/event-feed.ts";
import { EventLog } from "../src/events/event-log.ts";
import { observeEvents } from "../src/events/observed-events.ts";
import { ClusterStatusReader } from "../src/status/status-reader.ts";
import { recordOf } from "../src/status/testing/reports.ts";
import type { FeedEvent } from "../src/use-cases.ts";
import { connectClusters, type ConnectedClusters } from "./connected-clusters.ts";
import { ScriptedCrm, type ScriptedCrmOptions } from "./fakes/scripted-crm.ts";
import { DOWN } from "./fakes/scripted-units.ts";
import { unitOf } from "./fakes/units.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

const schema = defineConfig({ title: "test", prefixes: [], variables: { crm: clusterVariables } });
const key = "cart" as DeploymentKey;

/** Scripted clusters with directory, view, event log and status reader. */
async function startClusters(
  clusters: Readonly<Record<string, ScriptedCrmOptions>>,
  store = openMemoryStore({ ambient: realAmbient }),
) {
  const crms: Record<string, ScriptedCrm> = {};
  for (const [name, options] of Object.entries(clusters)) {
    crms[name] = await ScriptedCrm.start({ name, ...options });
    open.push(crms[name]);
  }
  const { crm: config } = loadConfig(schema, {
    env: {
      CRM_CLUSTERS_JSON: JSON.stringify(
        Object.fromEntries(
          Object.entries(crms).map(([name, crm]) => [name, { url: crm.url, timeout: 2, retry_attempts: 1 }]),
        ),
      ),
      CRM_HEALTH_CACHE_TTL: "200ms",
      CRM_HEALTH_CHECK_INTERVAL: "500ms",
      OPRC_PM_CRM_POLL_INTERVAL: "100ms",
      CRM_CIRCUIT_BREAKER_FAILURE_THRESHOLD: "3",
    },
  });
  const connected = connectClusters({ config, store, ambient: realAmbient });
  const { directory, gateway, view } = connected;
  const log = new EventLog("test");
  open.push({
    close: observeEvents({ log, clock: realAmbient.clock, view, readings: directory, clusters: rosterOf(connected) }),
  });
  await connected.start();
  open.push(connected);
  const record = recordOf(Object.fromEntries(Object.keys(clusters).map((name) => [name, { unitId: "u" as UnitId }])));
  const reader = new ClusterStatusReader({
    clusters: directory,
    gateway,
    view,
    classes: () => [],
    clock: realAmbient.clock,
    deployments: {
      record: async () => record,
      plan: async () => undefined,
      operation: () => undefined,
      all: () => [record],
    },
  });
  return { crms, connected, reader, log, store };
}

function rosterOf({ roster }: ConnectedClusters) {
  return {
    get: (name: ClusterName) => roster.entry(name),
    onChange: (listener: (name: ClusterName) => void) => roster.onChange(listener),
  };
}

function followEvents(log: EventLog): FeedEvent[] {
  const events: FeedEvent[] = [];
  const stop = new AbortController();
  open.push({ close: () => stop.abort() });
  void (async () => {
    for await (const event of new LogEventFeed(log, realAmbient.clock).follow({ signal: stop.signal }))
      events.push(event);
  })();
  return events;
}

describe("status over several clusters", () => {
  it("follows watched and polled clusters, and reports a cluster that fails and recovers", async () => {
    const { crms, connected, reader, log } = await startClusters({ ours: {}, rust: { flavour: "rust" }, frail: {} });
    for (const crm of Object.values(crms)) crm.units.put(unitOf("u"));
    const known = () => ["ours", "rust", "frail"].map((name) => connected.view.syncState(name as ClusterName));
    await eventually(() => expect(known()).toEqual(["live", "polled", "live"]));
    await eventually(async () => expect(await reader.status(key)).toMatchObject({ condition: "running" }));
    const events = followEvents(log);

    crms["ours"]!.units.set("u", DOWN);
    crms["rust"]!.units.set("u", DOWN);
    await eventually(async () => {
      const { clusters } = await reader.status(key);
      expect(clusters.map(({ cluster, condition }) => [cluster, condition])).toEqual([
        ["frail", "running"],
        ["ours", "down"],
        ["rust", "down"],
      ]);
      expect(events.filter(({ topic }) => topic === "class-runtime")).toHaveLength(2);
    });
    const explanation = await reader.explain(key);
    expect(explanation).toMatchObject({ verdict: "permanent", suggestedAction: "correct the image" });
    expect(explanation.clusters.map(({ finding }) => finding?.verdict)).toEqual(["healthy", "permanent", "permanent"]);

    await crms["frail"]!.down();
    await eventually(async () => {
      const page = await reader.runtimes({});
      expect(page.missing).toEqual(["frail"]);
      expect(page.items.map(({ cluster }) => cluster)).toEqual(["ours", "rust"]);
    });
    const status = await reader.status(key);
    expect(status.clusters[0]).toMatchObject({ cluster: "frail", reachable: false, condition: "unknown" });
    await eventually(async () => {
      const reading = await connected.directory.reading("frail" as ClusterName);
      expect(reading).toMatchObject({ health: { status: "unhealthy", availability: 0.99 }, breaker: "open" });
    });
    expect((await reader.explain(key)).clusters[0]?.error).toContain('cluster "frail"');

    await crms["frail"]!.up();
    await eventually(async () => {
      expect((await reader.runtimes({})).missing).toEqual([]);
      expect(await connected.directory.reading("frail" as ClusterName)).toMatchObject({ breaker: "closed" });
    });
    const health = events
      .filter(({ topic, key: name }) => topic === "cluster" && name === "frail")
      .map(({ object }) => (object as { health: { status: string } }).health.status);
    expect(health[0]).toBe("Unhealthy");
    expect(health.at(-1)).toBe("Healthy");
  });

  it("a hanging cluster delays status only until its deadline, and plans not at all", async () => {
    const { crms, connected, reader } = await startClusters({ well: {}, hung: {} });
    crms["well"]!.units.put(unitOf("u"));
    await eventually(() => connected.view.syncState("hung" as ClusterName) === "live");
    await eventually(async () => expect((await reader.runtimes({})).total).toBe(1));
    crms["hung"]!.always({ do: "hang" });
    const order: string[] = [];
    const late = connected.gateway
      .health("hung" as ClusterName)
      .catch(() => order.push("the deadline of the hanging cluster"));
    const readings = await connected.directory.readings();
    order.push("readings for plans");
    expect(readings.map(({ health }) => health.status)).toEqual(["healthy", "healthy"]);
    await late;
    expect(order).toEqual(["readings for plans", "the deadline of the hanging cluster"]);
    expect(await reader.status(key)).toMatchObject({ clusters: [{ reachable: false }, { condition: "running" }] });
  });

  it("uses a cluster that another process added, and disconnects from a removed one", async () => {
    const store = openMemoryStore({ ambient: realAmbient });
    const late = await ScriptedCrm.start({ name: "late" });
    open.push(late);
    late.units.put(unitOf("x"));
    const [a, b] = [await startClusters({}, store), await startClusters({}, store)];
    const { roster, stored } = a.connected;
    const admin = new StoredClusterAdmin({
      roster,
      stored,
      store,
      clock: realAmbient.clock,
      references: new ClusterReferences({ store, roster, ambient: realAmbient }),
      files: secretFolder(undefined),
      canStoreTokens: true,
      deployments: { keysIn: () => [], abandonRemovals: async () => 0, reached: async () => undefined },
    });
    const call = { caller: "ann", correlationId: "c" };
    await admin.add({ name: "late" as ClusterName, url: late.url, labels: {}, retryAttempts: 1, token: "t" }, call);
    await eventually(async () => expect((await b.reader.runtimes({})).items).toMatchObject([{ cluster: "late" }]));
    expect(late.calls.every(({ authorization }) => authorization === "Bearer t")).toBe(true);
    await admin.remove("late" as ClusterName);
    await eventually(() => late.connections === 0);
    expect(await b.reader.runtimes({})).toMatchObject({ items: [], missing: [] });
  });
});
