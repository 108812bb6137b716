import { sleep, unavailable } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentWorld,
  KEY,
  memoryWorldStore,
  wishFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-world.ts";
import { unitEncoder } from "../adapters/crm/wire/unit-to-wire.ts";
import type { UnitEncoder } from "../sagas/unit-sender.ts";
import type { Acknowledgement } from "../use-cases.ts";
import type { DeploymentPartsOptions } from "./deployment-parts.ts";

let world: DeploymentWorld;
let manager: ManagerUnderTest;
beforeEach(async () => {
  world = new DeploymentWorld(await memoryWorldStore(), ["a", "b", "c"]);
  manager = await world.manager();
});
afterEach(() => world.dispose());

const apply = (clusters: readonly string[], more: Parameters<typeof wishFor>[1] = {}): Promise<Acknowledgement> =>
  world.drive(manager.service.apply({ deployment: wishFor(clusters, more) }, CALL, {}));
const remove = (options: { readonly cluster?: ClusterName } = {}) =>
  world.drive(manager.service.remove(KEY, CALL, options));
const inUse = (): string => [...world.clusters.units].flatMap(([name, { size }]) => (size > 0 ? [name] : [])).join(" ");
const calls = (): readonly string[] => world.clusters.calls.map(({ op, cluster }) => `${op} ${cluster}`);
const another = async (options: Partial<DeploymentPartsOptions>): Promise<void> => {
  manager = await world.manager(options);
};

describe("a roll-out", () => {
  test("encodes each unit once and does not read back the plan it committed", async () => {
    const encoded: string[] = [];
    const encode: UnitEncoder["encode"] = (plan, unit) => {
      encoded.push(unit.cluster);
      return unitEncoder.encode(plan, unit);
    };
    await another({ encoder: { ...unitEncoder, encode } });
    const rollout = { strategy: "rolling", gate: "available", onFailure: "stop" } as const;
    const planReads = () => manager.hooked.reads.filter((key) => key.includes("deployment-plans"));

    expect(await apply(["a", "b"], { rollout })).toMatchObject({ status: "created" });
    expect(encoded).toEqual(["a", "b"]);
    expect(planReads()).toEqual([]);

    world.publish();
    encoded.length = 0;
    expect(await apply(["a", "b"], { rollout })).toMatchObject({ status: "updated" });
    expect(encoded).toEqual(["a", "b"]);
    // The previous plan: once for the planner, once as the fallback of the saga.
    expect(planReads().map((key) => key.slice(-1))).toEqual(["1", "1"]);
  });
});

describe("an upsert", () => {
  test("each cluster hears what it must and nothing else", async () => {
    expect(await apply(["a", "b"])).toMatchObject({
      key: "orders",
      id: expect.stringMatching(/^orders-a-/),
      status: "created",
    });
    expect([...calls()].sort()).toEqual(["deploy a", "deploy b"]);
    expect(await apply(["a", "b"])).toMatchObject({ status: "unchanged" });
    expect(calls()).toHaveLength(2);
    expect(await apply(["b", "c"])).toMatchObject({ status: "updated" });
    expect(inUse()).toBe("b c");
    expect(calls().slice(2)).toEqual(["deploy b", "deploy c", "remove a"]);
  });

  test("the same again sends what a cluster missed", async () => {
    world.clusters.down.add("b");
    const first = await apply(["a", "b"]);
    expect(first.message).toMatch(/continues in the background: b: b does not answer/);
    const second = await apply(["a", "b"]);
    expect(second, "it runs where it ran").toMatchObject({ status: "unchanged", message: first.message });
    world.clusters.down.clear();
    expect(await apply(["a", "b"])).toMatchObject({ status: "unchanged" });
    expect(inUse()).toBe("a b");
  });

  test("32 clients on one key: one wish is in force, and every answer is an answer", async () => {
    const asked = Array.from({ length: 32 }, (_, index) =>
      manager.service.apply({ deployment: wishFor(index % 2 === 0 ? ["a", "b"] : ["b", "c"]) }, CALL, {}),
    );
    const answers = await world.drive(Promise.all(asked));
    expect(answers.filter(({ status }) => status === "created")).toHaveLength(
      answers.some(({ status }) => status === "created") ? 1 : 0,
    );
    await world.quiet(manager);
    expect(["a b", "b c"]).toContain(inUse());
    await world.assertConverged(manager);
  });

  test("a version that was not the one seen is refused, and nothing is changed", async () => {
    const { version } = await apply(["a"]);
    const put = (ifVersion: number) =>
      world.drive(manager.service.apply({ deployment: wishFor(["b"]) }, CALL, { ifVersion: { oneOf: [ifVersion] } }));
    await expect(put((version as number) + 1)).rejects.toMatchObject({ code: "OAAS_VERSION_MISMATCH" });
    expect(inUse()).toBe("a");
    expect(await put(version as number)).toMatchObject({ status: "updated" });
    await expect(world.drive(manager.service.remove(KEY, CALL, { ifVersion: { oneOf: [1] } }))).rejects.toMatchObject({
      code: "OAAS_VERSION_MISMATCH",
    });
  });

  test("after the wait it is accepted and goes on", async () => {
    await another({ waitMs: 1_000 });
    manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 5_000).then(effect);
    expect(await apply(["a"])).toMatchObject({ status: "accepted" });
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "deploy", state: "running", done: 0, total: 1 });
    await world.quiet(manager);
    expect(inUse()).toBe("a");
    expect(manager.service.operation(KEY)).toMatchObject({ state: "succeeded", done: 1 });
  });
});

describe("a plan that was seen", () => {
  test("is carried out exactly, or refused with what moved", async () => {
    const deployment = wishFor(["a", "b"]);
    const { digest } = await manager.service.plan({ deployment }, CALL);
    expect(world.clusters.calls).toEqual([]);
    world.publish();
    const late = manager.service.apply({ deployment, planDigest: digest }, CALL, {});
    await expect(world.drive(late)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /is outdated: package_revision changed from 1 to 2; functions\['Order.place'\].provision_config/,
      ),
    });
    // Another process, or this one after a restart, has nothing but the digest.
    const elsewhere = await world.manager();
    await expect(
      world.drive(elsewhere.service.apply({ deployment, planDigest: digest }, CALL, {})),
    ).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /is outdated: package_revision changed; functions, configuration or requirements changed/,
      ),
    });
    const unknown = manager.service.apply({ deployment, planDigest: "0badcafe" }, CALL, {});
    await expect(world.drive(unknown)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /^plan_digest "0badcafe" is outdated\. Request a new plan with POST \/api\/v1\/plans/,
      ),
    });
    expect(world.clusters.calls).toEqual([]);
    const { digest: fresh } = await manager.service.plan({ deployment }, CALL);
    const applied = manager.service.apply({ deployment, planDigest: fresh }, CALL, {});
    expect(await world.drive(applied)).toMatchObject({ status: "created" });
  });

  test("what if a cluster were down: told, and nothing happens", async () => {
    const plan = await manager.service.plan(
      { deployment: wishFor([]), whatIf: { clustersDown: ["a" as ClusterName] } },
      CALL,
    );
    expect(plan.units.map(({ cluster }) => cluster)).not.toContain("a");
    expect((await manager.service.list({})).total).toBe(0);
  });
});

describe("failures", () => {
  test("in every cluster: the answer has the cause that decides, and every part", async () => {
    world.clusters.down.add("a").add("b");
    await expect(apply(["a", "b"])).rejects.toMatchObject({
      kind: "partial-failure",
      retryable: true,
      detail: { parts: [{ name: "a" }, { name: "b" }] },
    });
    world.clusters.down.clear();
    await world.drive(manager.keeper.sweep());
    await world.quiet(manager);
    expect(inUse(), "the wish stays and is carried out when they are back").toBe("a b");
  });

  test("a wish that every cluster refuses is not in force; what ran goes on running", async () => {
    await apply(["a", "b"]);
    const before = world.clusters.inventory;
    world.publish();
    world.clusters.refusing.add("a").add("b");
    await expect(apply(["a", "b"])).rejects.toMatchObject({ kind: "partial-failure", retryable: false });
    world.clusters.refusing.clear();
    await world.assertConverged(manager);
    expect(world.clusters.inventory).toEqual(before);
    const { items } = await manager.service.revisions(KEY, {});
    expect(items.map(({ outcome }) => outcome)).toEqual(["failed", "succeeded"]);
    expect((await manager.service.get(KEY)).value.condition).toBe("running");
  });

  test("retries stop where they are told to, and only for faults that may pass", async () => {
    const tries = new Map<string, number>();
    manager.onCall = async ({ cluster }, effect) => {
      tries.set(cluster, (tries.get(cluster) ?? 0) + 1);
      if (cluster === "b") throw unavailable("b", "never");
      effect();
    };
    world.clusters.refusing.add("c");
    await apply(["a", "b", "c"]);
    expect(Object.fromEntries(tries)).toEqual({ a: 1, b: 3, c: 1 });
  });

  test("a rolling update stops at the cluster that does not become available, and goes no further by itself", async () => {
    const rollout = { strategy: "rolling", gate: "available", onFailure: "stop" } as const;
    await apply(["a", "b", "c"], { rollout });
    world.publish();
    world.clusters.stuck.add("b");
    const answer = await apply(["a", "b", "c"], { rollout });
    expect(answer.status).toBe("accepted");
    await world.quiet(manager);
    const [newest] = (await manager.service.revisions(KEY, {})).items;
    expect(newest).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    expect(newest?.clusters["b"]).toMatch(/did not become available in b within 60 s: it is progressing/);
    const sent = world.clusters.calls.length;
    await world.drive(manager.keeper.sweep());
    await world.quiet(manager);
    expect(world.clusters.calls).toHaveLength(sent);
    expect((await manager.service.get(KEY)).value.condition).toBe("down");
  });

  describe("a gate that is not passed while the caller waits", () => {
    const rolling = (onFailure: "stop" | "roll-back") =>
      ({ rollout: { strategy: "rolling", gate: "available", onFailure } }) as const;
    const newest = async () => (await manager.service.revisions(KEY, {})).items[0];
    beforeEach(async () => {
      await another({ waitMs: 300_000 });
      await apply(["a", "b", "c"], rolling("stop"));
      world.publish();
      world.clusters.stuck.add("b");
    });

    test("stops: the answer says so and why, for it does not go on", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({
        kind: "partial-failure",
        message: expect.stringMatching(
          /^deployment "orders" stopped because it failed in b: .* did not become available/,
        ),
      });
      expect(await newest()).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    });

    test("rolls back when asked: the answer is no success, and the history keeps why", async () => {
      await expect(apply(["a", "b", "c"], rolling("roll-back"))).rejects.toMatchObject({
        kind: "partial-failure",
        message: expect.stringMatching(
          /^deployment "orders" was undone because it failed in b: .* did not become available/,
        ),
      });
      expect(await newest()).toMatchObject({
        outcome: "compensated",
        clusters: {
          a: "restored",
          b: expect.stringMatching(/^restored; failed before: .* did not become available/),
          c: "not started",
        },
      });
      expect((await manager.service.get(KEY)).value.summary?.lastError).toMatch(/did not become available/);
      expect(manager.service.operation(KEY)).toMatchObject({ state: "compensated", message: expect.any(String) });
    });

    test("is not passed by asking for the same again", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      const sent = calls().length;
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      expect(calls().slice(sent)).toEqual(["deploy b"]);
    });

    test("a wish that stopped there is nothing to go back to", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      await expect(apply(["a", "b"], rolling("roll-back"))).rejects.toMatchObject({ kind: "partial-failure" });
      world.clusters.stuck.clear();
      await world.assertConverged(manager);
      expect((await manager.service.get(KEY)).value.deployment).toMatchObject({ targetClusters: ["a", "b", "c"] });
      expect((await manager.service.record(KEY))?.desired?.revision).toBe(1);
    });
  });

  test("what is undone because one cluster refused is no success, and nothing is left of it", async () => {
    await another({ rollBackOnPartial: true });
    world.clusters.refusing.add("c");
    await expect(apply(["a", "b", "c"])).rejects.toMatchObject({
      kind: "partial-failure",
      retryable: false,
      message: expect.stringMatching(/^deployment "orders" was undone because it failed in c: /),
    });
    world.clusters.refusing.clear();
    await world.assertConverged(manager);
    expect(inUse()).toBe("");
  });

  test("what a cluster refused for good does not go on by itself, and the answer does not say so", async () => {
    world.clusters.refusing.add("c");
    world.clusters.down.add("b");
    const { message } = await apply(["a", "b", "c"]);
    expect(message).toMatch(/^continues in the background: b: .*; rejected; apply the deployment again to retry: c: /);
  });

  test("a roll-out changes no more clusters at once than it says", async () => {
    let [now, most] = [0, 0];
    manager.onCall = async (_, effect) => {
      most = Math.max(most, (now += 1));
      await sleep(world.at.ambient.timers, 100);
      effect();
      now -= 1;
    };
    await apply(["a", "b", "c"], {
      rollout: { strategy: "rolling", gate: "accepted", maxParallel: 2, onFailure: "stop" },
    });
    expect(most).toBe(2);
  });
});

describe("deletion", () => {
  test("of a cluster that is away leaves a tombstone, which is finished when it is back", async () => {
    await apply(["a", "b"]);
    world.clusters.down.add("b");
    expect(await remove()).toMatchObject({ status: "accepted", deleted: ["a"], pending: ["b"] });
    expect((await manager.service.get(KEY)).value.condition).toBe("deleted");
    expect(await manager.service.mappings(KEY)).toEqual({ b: expect.stringMatching(/^orders-b-/) });
    const before = world.clusters.calls.length;
    await world.drive(manager.keeper.sweep());
    expect(world.clusters.calls, "a cluster that is away is left alone").toHaveLength(before);
    world.clusters.down.clear();
    expect((await world.drive(manager.keeper.sweep())).repaired).toEqual(["orders"]);
    await world.quiet(manager);
    expect(world.clusters.inventory).toEqual([]);
    await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("made anew while a tombstone is left: the wanted stays, the rest goes", async () => {
    await apply(["a", "b", "c"]);
    world.clusters.down.add("b").add("c");
    await remove();
    world.clusters.down.delete("c");
    expect(await apply(["a", "c"])).toMatchObject({ status: "created" });
    expect((await manager.service.get(KEY)).value.condition).toBe("deploying");
    await world.assertConverged(manager);
    expect(inUse()).toBe("a c");
  });

  test("in one cluster only; the last cluster takes the deployment with it", async () => {
    await apply(["a", "b"]);
    expect(await remove({ cluster: "c" as ClusterName })).toMatchObject({ status: "deleted", deleted: [] });
    await expect(remove({ cluster: "nowhere" as ClusterName }), "a slip of the pen").rejects.toMatchObject({
      kind: "invalid-argument",
      message: expect.stringContaining("use a, b, c"),
    });
    const message = 'deployment "orders" is deleted in a';
    expect(await remove({ cluster: "a" as ClusterName })).toMatchObject({ status: "deleted", deleted: ["a"], message });
    expect(inUse()).toBe("b");
    expect((await manager.service.revisions(KEY, {})).items[0]).toMatchObject({
      reason: "because",
      outcome: "succeeded",
    });
    await remove({ cluster: "b" as ClusterName });
    await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("one after another", () => {
  const slow = (): void => {
    manager.onCall = async (_, effect) => sleep(world.at.ambient.timers, 1_000).then(effect);
  };

  test("a newer wish takes the place of one under way, which stops at its next step", async () => {
    const rollout = { strategy: "rolling", gate: "accepted", onFailure: "stop" } as const;
    slow();
    const first = manager.service.apply({ deployment: wishFor(["a", "b", "c"], { rollout }) }, CALL, {});
    await world.pass(500);
    const second = manager.service.apply({ deployment: wishFor(["c"]) }, CALL, {});
    expect(await world.drive(first)).toMatchObject({ status: "accepted", message: expect.stringMatching(/newer/) });
    expect(await world.drive(second)).toMatchObject({ status: "updated" });
    expect(inUse()).toBe("c");
    expect(calls()).toEqual(["deploy a", "deploy c", ...calls().slice(2)]);
    expect((await manager.service.revision(KEY, 1)).clusters["*"]).toBe("superseded by revision 2");
  });

  test("also when the two came to different processes: no two sagas of a key act at once", async () => {
    const other = await world.manager();
    let now = 0;
    for (const each of [manager, other]) {
      each.onCall = async (_, effect) => {
        expect((now += 1)).toBeLessThan(2);
        await sleep(world.at.ambient.timers, 1_000);
        effect();
        now -= 1;
      };
    }
    const first = manager.service.apply({ deployment: wishFor(["a"]) }, CALL, {});
    await world.pass(300);
    const second = other.service.remove(KEY, CALL, {});
    await world.drive(Promise.all([first, second]));
    await world.quiet(manager);
    expect(world.clusters.inventory).toEqual([]);
  });

  test("cancelled: everything is as it was", async () => {
    await apply(["a", "b"]);
    const before = world.clusters.inventory;
    world.publish();
    slow();
    const update = manager.service.apply({ deployment: wishFor(["a", "b", "c"]) }, CALL, {});
    await world.pass(200);
    await world.drive(manager.service.cancel(KEY, { ...CALL, caller: "eve" }));
    await expect(world.drive(update)).rejects.toMatchObject({ kind: "cancelled" });
    expect(manager.service.operation(KEY)).toMatchObject({ state: "cancelled" });
    await world.assertConverged(manager);
    expect(world.clusters.inventory).toEqual(before);
    expect((await manager.service.revision(KEY, 2)).outcome).toBe("cancelled");
    await expect(manager.service.cancel(KEY, CALL)).rejects.toMatchObject({ kind: "failed-precondition" });
  });
});

describe("history", () => {
  test("who, what, why, and what came of it; differences; back to an earlier entry", async () => {
    await apply(["a"]);
    await apply(["a", "b"]);
    const { items, total } = await manager.service.revisions(KEY, { limit: 1 });
    expect(total).toBe(2);
    expect(items).toMatchObject([
      {
        revision: 2,
        author: "ann",
        reason: "because",
        outcome: "succeeded",
        clusters: { a: "accepted", b: "accepted" },
      },
    ]);
    const { changes } = await manager.service.diff(KEY);
    expect(changes).toContainEqual({ path: "$.target_clusters.b", change: "added", after: "b" });
    const back = await world.drive(manager.service.rollBack(KEY, 1, { ...CALL, caller: "bob" }, {}));
    expect(back.status).toBe("updated");
    expect(inUse()).toBe("a");
    expect(await manager.service.revision(KEY, 3)).toMatchObject({ author: "bob", outcome: "succeeded" });
    const same = manager.service.rollBack(KEY, 3, CALL, {});
    expect(await world.drive(same)).toMatchObject({ status: "unchanged" });
    await expect(manager.service.revision(KEY, 9)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("nothing goes back to what is switched off since, and what runs goes on", async () => {
    await apply(["a"]);
    await apply(["b"]);
    world.package = { ...world.package, disabled: true };
    await expect(world.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringMatching(/is disabled and cannot be deployed; enable it first$/),
    });
    expect(inUse()).toBe("b");
    world.package = { ...world.package, disabled: false };
    await world.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    expect(inUse()).toBe("a");
  });

  test("is bounded; what is in force is never forgotten", async () => {
    await another({ history: 2 });
    for (const clusters of [["a"], ["b"], ["c"], ["a", "b"]]) await apply(clusters);
    const page = await manager.service.revisions(KEY, {});
    expect(page.items.map(({ revision }) => revision)).toEqual([4, 3]);
    expect(page.total).toBe(2);
    await expect(manager.service.revision(KEY, 2)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("lists", () => {
  test("filter by everything that is asked, in any order, by pages", async () => {
    await apply(["a"], { key: "one" as DeploymentKey, environmentKind: "edge" });
    await world.pass(1_000);
    await apply(["b"], { key: "two" as DeploymentKey });
    await world.pass(1_000);
    await apply(["a", "b"], { key: "three" as DeploymentKey });
    const keys = async (query: Parameters<typeof manager.service.list>[0]): Promise<string> =>
      (await manager.service.list(query)).items.map(({ deployment }) => deployment.key).join(" ");
    expect(await keys({})).toBe("one three two");
    expect(await keys({ targetCluster: "b" })).toBe("three two");
    expect(await keys({ targetEnv: "edge" })).toBe("one");
    expect(await keys({ targetEnv: "b" }), "also by the name of a cluster, as it once was").toBe("three two");
    expect(await keys({ classKey: "shop.Order", packageName: "shop", sort: "-created_at" })).toBe("three two one");
    expect(await keys({ condition: "RUNNING" })).toBe("");
    await world.drive(manager.keeper.sweep());
    expect(await keys({ condition: "RUNNING", limit: 2 })).toBe("one three");
    expect(await keys({ packageName: "none" })).toBe("");
  });
});
