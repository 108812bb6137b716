import { describe, expect, test } from "vitest";
import type { JsonObject, Status } from "@oaas/kube-core";
import { typed } from "../objects/cluster-view.ts";
import { CONFIG_MAPS, EVENTS, objectKey } from "../objects/resources.ts";
import { ALL_KINDS, Lab } from "../testing/lab.ts";
import { failure, MemoryCluster } from "../testing/memory-cluster.ts";
import { ControlLoop, type LoopPorts } from "./control-loop.ts";
import type { Controller } from "./controller.ts";
import { create, createDecision, SETTLED, recordEvent, update, type Decision } from "./decision.ts";

/** A scripted controller over ConfigMaps that records its calls. */
function scripted(
  decide: (name: string, now: number, object: JsonObject | undefined) => Decision,
  more: Partial<Controller> = {},
) {
  const decidedKeys: string[] = [];
  const controller: Controller = {
    name: "scripted",
    reporter: "scripted-controller",
    writer: "scripted",
    watches: [{ kind: CONFIG_MAPS, keys: (object) => [objectKey("default", typed(object).metadata.name)] }],
    decide(key, { view, now }) {
      const name = key.split("/")[1] ?? "";
      decidedKeys.push(name);
      return decide(name, now, view.get(CONFIG_MAPS, "default", name) as JsonObject | undefined);
    },
    ...more,
  };
  return { controller, decidedKeys };
}

async function setUp(
  controller: Controller,
): Promise<{ lab: Lab; cluster: MemoryCluster; loop: ControlLoop; ports: LoopPorts }> {
  const lab = await Lab.on("memory");
  const cluster = new MemoryCluster(lab.time, lab.ambient.ids, ALL_KINDS);
  const ports = { ...lab.ports, objects: cluster };
  const loop = new ControlLoop("test", [controller], ports);
  return { lab, cluster, loop, ports };
}

const map = (name: string, data: object = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default" },
  data: { ...data },
});

async function settled(loop: ControlLoop): Promise<void> {
  for (let turn = 0; turn < 10_000 && (turn < 50 || !loop.isIdle()); turn += 1) await Promise.resolve();
}

describe("control loop", () => {
  test("reconciles every object at start, then each changed object once, in order", async () => {
    const { controller, decidedKeys } = scripted(() => SETTLED);
    const { cluster, loop } = await setUp(controller);
    await cluster.create(CONFIG_MAPS, map("b"));
    await cluster.create(CONFIG_MAPS, map("a"));
    loop.start();
    await settled(loop);
    expect(decidedKeys).toEqual(["a", "b"]);
    const writes = ["1", "2", "3"].map((value) => cluster.update(CONFIG_MAPS, map("a", { value })));
    await Promise.all(writes);
    await settled(loop);
    expect(decidedKeys).toEqual(["a", "b", "a"]);
  });

  test("reconciles again at once after a conflict, without a timer", async () => {
    const { controller, decidedKeys } = scripted((_, __, object) =>
      object && (object["data"] as JsonObject)["done"] === undefined
        ? createDecision([update(CONFIG_MAPS, { ...object, data: { done: "yes" } })])
        : SETTLED,
    );
    const { lab, cluster, loop } = await setUp(controller);
    let errors = 2;
    cluster.rejectWrite = (verb) =>
      verb === "update" && (errors -= 1) >= 0 ? failure("Conflict", "changed") : undefined;
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    await settled(loop);
    expect(cluster.get(CONFIG_MAPS, { namespace: "default", name: "a" })).toMatchObject({ data: { done: "yes" } });
    expect(decidedKeys).toEqual(["a", "a", "a", "a"]);
    expect(lab.time.pendingTimers).toBe(0);
  });

  test("reports other errors to the controller and retries with backoff", async () => {
    const errors: Status[] = [];
    const tries: number[] = [];
    const { controller } = scripted(
      (name, now, object) => {
        if (name !== "a" || (object && (object["data"] as JsonObject)["made"] !== undefined)) return SETTLED;
        tries.push(now);
        return createDecision([create(CONFIG_MAPS, map("b"))]);
      },
      { afterError: (_, { status }) => (errors.push(status), SETTLED) },
    );
    const { lab, cluster, loop } = await setUp(controller);
    cluster.rejectWrite = (verb, _, object) =>
      verb === "create" && (object as JsonObject)["data"] && typed(object as JsonObject).metadata.name === "b"
        ? failure("Forbidden", "no")
        : undefined;
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    for (let turn = 0; turn < 40; turn += 1) {
      await lab.time.advance(1);
      await settled(loop);
    }
    const waits = tries.slice(1).map((time, index) => time - (tries[index] ?? 0));
    expect(waits).toEqual([5, 10, 20]);
    expect(errors).toHaveLength(4);
    expect(loop.isIdle()).toBe(true);
  });

  test("does not retry a create in a terminating namespace", async () => {
    const { controller, decidedKeys } = scripted((name) =>
      name === "a" ? createDecision([create(CONFIG_MAPS, map("b"))]) : SETTLED,
    );
    const { lab, cluster, loop } = await setUp(controller);
    cluster.rejectWrite = (verb, _, object) =>
      verb === "create" && typed(object as JsonObject).metadata.name === "b"
        ? failure("Forbidden", "going", [{ reason: "NamespaceTerminating" }])
        : undefined;
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    await settled(loop);
    expect(decidedKeys).toEqual(["a"]);
    expect(lab.time.pendingTimers).toBe(0);
  });

  test("reconciles again at the requested time unless a change comes first", async () => {
    const { controller, decidedKeys } = scripted((_, now) =>
      now < Date.UTC(2026, 0, 1) + 1000 ? createDecision([], 1000) : SETTLED,
    );
    const { lab, cluster, loop } = await setUp(controller);
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    await settled(loop);
    await lab.time.advance(500);
    await cluster.update(CONFIG_MAPS, map("a", { x: "1" }));
    await settled(loop);
    expect([decidedKeys.length, lab.time.pendingTimers]).toEqual([2, 1]);
    await lab.time.advance(1000);
    await settled(loop);
    expect([decidedKeys.length, lab.time.pendingTimers]).toEqual([3, 0]);
  });

  test("reports a throwing reconcile and continues with other objects", async () => {
    const { controller, decidedKeys } = scripted((name) => {
      if (name === "bad") throw new Error("cannot decide");
      return SETTLED;
    });
    const { lab, cluster, loop } = await setUp(controller);
    loop.start();
    await cluster.create(CONFIG_MAPS, map("bad"));
    await cluster.create(CONFIG_MAPS, map("good"));
    await settled(loop);
    expect(decidedKeys).toEqual(["bad", "good"]);
    expect(lab.problems).toMatchObject([{ controller: "scripted", key: "default/bad" }]);
  });

  test("stops actions and timers", async () => {
    const { controller, decidedKeys } = scripted(() => createDecision([], 1000));
    const { lab, cluster, loop } = await setUp(controller);
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    await settled(loop);
    loop.stop();
    await cluster.create(CONFIG_MAPS, map("b"));
    await lab.time.advance(10_000);
    expect(decidedKeys).toEqual(["a"]);
    expect(lab.time.pendingTimers).toBe(0);
  });
});

describe("events", () => {
  const about = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "default", uid: "u" } };
  const event = (message: string) => recordEvent({ about, type: "Warning", reason: "Odd", message });

  async function recordEvents(
    messages: readonly string[],
    more: Partial<Controller> = {},
  ): Promise<readonly JsonObject[]> {
    let next = 0;
    const { controller } = scripted(
      (name) => (name === "a" ? createDecision([event(messages[next] ?? "")]) : SETTLED),
      more,
    );
    const { cluster, loop } = await setUp(controller);
    loop.start();
    await cluster.create(CONFIG_MAPS, map("a"));
    await settled(loop);
    for (next = 1; next < messages.length; next += 1) {
      await cluster.update(CONFIG_MAPS, map("a", { next: String(next) }));
      await settled(loop);
    }
    return cluster.list(EVENTS);
  }

  test("counts repeats", async () => {
    const [only, ...others] = await recordEvents(["x", "x", "x"]);
    expect(others).toEqual([]);
    expect(only).toMatchObject({
      count: 3,
      message: "x",
      reason: "Odd",
      source: { component: "scripted-controller" },
      reportingComponent: "scripted-controller",
      involvedObject: { kind: "ConfigMap", name: "a", namespace: "default", uid: "u" },
      metadata: { name: expect.stringMatching(/^a\.[0-9a-f]+$/) as string, namespace: "default" },
    });
  });

  test("writes newer events as a series", async () => {
    const [only] = await recordEvents(["x", "x"], { newStyleEvents: true });
    expect(only).toMatchObject({ series: { count: 2 }, source: {}, eventTime: "2026-01-01T00:00:00.000000Z" });
    expect(only).not.toHaveProperty("count");
  });

  test("combines events of one reason from the tenth on", async () => {
    const events = await recordEvents(Array.from({ length: 13 }, (_, index) => `no. ${index}`));
    expect(events).toHaveLength(10);
    expect(events.find(({ count }) => count === 4)).toMatchObject({
      message: "(combined from similar events): no. 12",
      reportingComponent: "",
    });
  });
});
