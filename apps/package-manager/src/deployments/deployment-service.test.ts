import { sleep, unavailable } from "@oaas/foundation";
import { EMPTY_PROVISION, type ClusterName, type DeploymentKey, type PackageName } from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { unitEncoder } from "../adapters/crm/wire/unit-to-wire.ts";
import type { UnitEncoder } from "../sagas/unit-sender.ts";
import type { Acknowledgement } from "../use-cases.ts";
import type { DeploymentPartsOptions } from "./deployment-parts.ts";

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b", "c"]);
  manager = await fixture.manager();
});
afterEach(() => fixture.dispose());

const apply = (clusters: readonly string[], more: Parameters<typeof deploymentFor>[1] = {}): Promise<Acknowledgement> =>
  fixture.drive(manager.service.apply({ deployment: deploymentFor(clusters, more) }, CALL, {}));
const remove = (options: { readonly cluster?: ClusterName } = {}) =>
  fixture.drive(manager.service.remove(KEY, CALL, options));
const inUse = (): string =>
  [...fixture.clusters.units].flatMap(([name, { size }]) => (size > 0 ? [name] : [])).join(" ");
const calls = (): readonly string[] => fixture.clusters.calls.map(({ op, cluster }) => `${op} ${cluster}`);
const another = async (options: Partial<DeploymentPartsOptions>): Promise<void> => {
  manager = await fixture.manager(options);
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

    fixture.publish();
    encoded.length = 0;
    expect(await apply(["a", "b"], { rollout })).toMatchObject({ status: "updated" });
    expect(encoded).toEqual(["a", "b"]);
    // The previous plan: once for the planner, once as the fallback of the saga.
    expect(planReads().map((key) => key.slice(-1))).toEqual(["1", "1"]);
  });
});

describe("the objects of a plan", () => {
  const objectsOf = async (clusters: readonly string[]) => {
    const { objects, plan } = await manager.service.plan({ deployment: deploymentFor(clusters), objects: true }, CALL);
    return { plan, states: objects?.map(({ cluster, state }) => `${cluster} ${state}`) };
  };

  test("names what each cluster would change, and clusters that cannot tell", async () => {
    fixture.clusters.oldPeers.add("b");
    fixture.clusters.rejecting.add("c");
    const { states } = await objectsOf(["a", "b", "c"]);
    expect(states).toEqual(["a rendered", "b unknown", "c refused"]);
    expect(calls()).toEqual([]);
  });

  test("names the clusters that the plan leaves, and equals what apply then does", async () => {
    await apply(["a", "b"]);
    fixture.publish();
    fixture.clusters.calls.length = 0;
    const { objects = [] } = await manager.service.plan({ deployment: deploymentFor(["b", "c"]), objects: true }, CALL);
    const announced = objects.flatMap((each) => {
      if (each.state === "removed") return [`remove ${each.cluster}`];
      const isChanged = each.state === "rendered" && each.unit.objects.some(({ change }) => change !== "unchanged");
      return isChanged ? [`deploy ${each.cluster}`] : [];
    });
    await apply(["b", "c"]);
    expect(announced.toSorted()).toEqual([...calls()].toSorted());
  });

  test("are not requested by default, and do not change the digest", async () => {
    const { plan, objects } = await manager.service.plan({ deployment: deploymentFor(["a"]) }, CALL);
    expect(objects).toBeUndefined();
    expect((await objectsOf(["a"])).plan.digest).toBe(plan.digest);
  });
});

describe("an upsert", () => {
  test("sends each cluster only its own changes", async () => {
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

  test("sends a missed unit again when the same spec is applied", async () => {
    fixture.clusters.down.add("b");
    const first = await apply(["a", "b"]);
    expect(first.message).toMatch(/continues in the background: b: b does not answer/);
    const second = await apply(["a", "b"]);
    expect(second, "it runs where it ran").toMatchObject({ status: "unchanged", message: first.message });
    fixture.clusters.down.clear();
    expect(await apply(["a", "b"])).toMatchObject({ status: "unchanged" });
    expect(inUse()).toBe("a b");
  });

  test("serializes 32 concurrent clients on one key and answers each of them", async () => {
    const requests = Array.from({ length: 32 }, (_, index) =>
      manager.service.apply({ deployment: deploymentFor(index % 2 === 0 ? ["a", "b"] : ["b", "c"]) }, CALL, {}),
    );
    const answers = await fixture.drive(Promise.all(requests));
    expect(answers.filter(({ status }) => status === "created")).toHaveLength(
      answers.some(({ status }) => status === "created") ? 1 : 0,
    );
    await fixture.untilIdle(manager);
    expect(["a b", "b c"]).toContain(inUse());
    await fixture.assertConverged(manager);
  });

  test("rejects an outdated version and changes nothing", async () => {
    const { version } = await apply(["a"]);
    const put = (ifVersion: number) =>
      fixture.drive(
        manager.service.apply({ deployment: deploymentFor(["b"]) }, CALL, { ifVersion: { oneOf: [ifVersion] } }),
      );
    await expect(put((version as number) + 1)).rejects.toMatchObject({ code: "OAAS_VERSION_MISMATCH" });
    expect(inUse()).toBe("a");
    expect(await put(version as number)).toMatchObject({ status: "updated" });
    await expect(fixture.drive(manager.service.remove(KEY, CALL, { ifVersion: { oneOf: [1] } }))).rejects.toMatchObject(
      {
        code: "OAAS_VERSION_MISMATCH",
      },
    );
  });

  test("returns accepted after the wait and continues in the background", async () => {
    await another({ waitMs: 1_000 });
    manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 5_000).then(effect);
    expect(await apply(["a"])).toMatchObject({ status: "accepted" });
    expect(manager.service.operation(KEY)).toMatchObject({ kind: "deploy", state: "running", done: 0, total: 1 });
    await fixture.untilIdle(manager);
    expect(inUse()).toBe("a");
    expect(manager.service.operation(KEY)).toMatchObject({ state: "succeeded", done: 1 });
  });
});

describe("a plan digest", () => {
  test("is applied exactly, or rejected with the changed parts", async () => {
    const deployment = deploymentFor(["a", "b"]);
    const { plan } = await manager.service.plan({ deployment }, CALL);
    const { digest } = plan;
    expect(fixture.clusters.calls).toEqual([]);
    fixture.publish();
    const late = manager.service.apply({ deployment, planDigest: digest }, CALL, {});
    await expect(fixture.drive(late)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /is outdated: package_revision changed from 1 to 2; functions\['Order.place'\].provision_config/,
      ),
    });
    // Another process, or this one after a restart, knows only the digest.
    const elsewhere = await fixture.manager();
    await expect(
      fixture.drive(elsewhere.service.apply({ deployment, planDigest: digest }, CALL, {})),
    ).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /is outdated: package_revision changed; functions, configuration or requirements changed/,
      ),
    });
    const unknown = manager.service.apply({ deployment, planDigest: "0badcafe" }, CALL, {});
    await expect(fixture.drive(unknown)).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringMatching(
        /^plan_digest "0badcafe" is outdated\. Request a new plan with POST \/api\/v1\/plans/,
      ),
    });
    expect(fixture.clusters.calls).toEqual([]);
    const { plan: replanned } = await manager.service.plan({ deployment }, CALL);
    const { digest: fresh } = replanned;
    const applied = manager.service.apply({ deployment, planDigest: fresh }, CALL, {});
    expect(await fixture.drive(applied)).toMatchObject({ status: "created" });
  });

  test("plans for clusters that are assumed down without any effect", async () => {
    const { plan } = await manager.service.plan(
      { deployment: deploymentFor([]), whatIf: { clustersDown: ["a" as ClusterName] } },
      CALL,
    );
    expect(plan.units.map(({ cluster }) => cluster)).not.toContain("a");
    expect((await manager.service.list({})).total).toBe(0);
  });
});

describe("failures", () => {
  test("reports the dominant cause and every part when all clusters fail", async () => {
    fixture.clusters.down.add("a").add("b");
    await expect(apply(["a", "b"])).rejects.toMatchObject({
      kind: "partial-failure",
      code: "OAAS_ROLLOUT_FAILED",
      retryable: true,
      detail: { parts: [{ name: "a" }, { name: "b" }] },
    });
    fixture.clusters.down.clear();
    await fixture.drive(manager.drift.sweep());
    await fixture.untilIdle(manager);
    expect(inUse(), "the deployment stays and is rolled out when the clusters return").toBe("a b");
  });

  test("reports a failure in the only cluster as a failed roll-out", async () => {
    fixture.clusters.down.add("a");
    await expect(apply(["a"])).rejects.toMatchObject({
      code: "OAAS_ROLLOUT_FAILED",
      detail: { parts: [{ name: "a" }] },
    });
  });

  test("keeps the previous revision running when every cluster rejects the new one", async () => {
    await apply(["a", "b"]);
    const before = fixture.clusters.inventory;
    fixture.publish();
    fixture.clusters.rejecting.add("a").add("b");
    await expect(apply(["a", "b"])).rejects.toMatchObject({ kind: "partial-failure", retryable: false });
    fixture.clusters.rejecting.clear();
    await fixture.assertConverged(manager);
    expect(fixture.clusters.inventory).toEqual(before);
    const { items } = await manager.service.revisions(KEY, {});
    expect(items.map(({ outcome }) => outcome)).toEqual(["failed", "running"]);
    expect((await manager.service.get(KEY)).value.condition).toBe("running");
  });

  test("retries only retryable faults, up to the limit", async () => {
    const tries = new Map<string, number>();
    manager.onCall = async ({ cluster }, effect) => {
      tries.set(cluster, (tries.get(cluster) ?? 0) + 1);
      if (cluster === "b") throw unavailable("b", "never");
      effect();
    };
    fixture.clusters.rejecting.add("c");
    await apply(["a", "b", "c"]);
    expect(Object.fromEntries(tries)).toEqual({ a: 1, b: 3, c: 1 });
  });

  test("stops a rolling update at the cluster that does not become available", async () => {
    const rollout = { strategy: "rolling", gate: "available", onFailure: "stop" } as const;
    await apply(["a", "b", "c"], { rollout });
    fixture.publish();
    fixture.clusters.stuck.add("b");
    const answer = await apply(["a", "b", "c"], { rollout });
    expect(answer.status).toBe("accepted");
    await fixture.untilIdle(manager);
    const [newest] = (await manager.service.revisions(KEY, {})).items;
    expect(newest).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    expect(newest?.clusters["b"]).toMatch(/did not become available in b within 60 s: it is progressing/);
    const sent = fixture.clusters.calls.length;
    await fixture.drive(manager.drift.sweep());
    await fixture.untilIdle(manager);
    expect(fixture.clusters.calls).toHaveLength(sent);
    expect((await manager.service.get(KEY)).value.condition).toBe("degraded");
  });

  describe("a closed gate while the caller waits", () => {
    const rolling = (onFailure: "stop" | "roll-back") =>
      ({ rollout: { strategy: "rolling", gate: "available", onFailure } }) as const;
    const newest = async () => (await manager.service.revisions(KEY, {})).items[0];
    beforeEach(async () => {
      await another({ waitMs: 300_000 });
      await apply(["a", "b", "c"], rolling("stop"));
      fixture.publish();
      fixture.clusters.stuck.add("b");
    });

    test("stops the roll-out and returns the reason", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({
        kind: "partial-failure",
        code: "OAAS_PARTIAL_FAILURE",
        message: expect.stringMatching(
          /^deployment "orders" stopped because it failed in b: .* did not become available/,
        ),
      });
      expect(await newest()).toMatchObject({ outcome: "failed", clusters: { a: "accepted", c: "not started" } });
    });

    test("rolls back with on_failure roll_back and records the reason", async () => {
      await expect(apply(["a", "b", "c"], rolling("roll-back"))).rejects.toMatchObject({
        kind: "partial-failure",
        code: "OAAS_ROLLOUT_UNDONE",
        message: expect.stringMatching(
          /^deployment "orders" was undone because it failed in b: .* did not become available/,
        ),
      });
      expect(await newest()).toMatchObject({
        outcome: "rolled-back",
        clusters: {
          a: "restored",
          b: expect.stringMatching(/^restored; failed before: .* did not become available/),
          c: "not started",
        },
      });
      expect((await manager.service.get(KEY)).value.summary?.lastError).toMatch(/did not become available/);
      expect(manager.service.operation(KEY)).toMatchObject({ state: "compensated", message: expect.any(String) });
    });

    test("stays closed when the same spec is applied again", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      const sent = calls().length;
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      expect(calls().slice(sent)).toEqual(["deploy b"]);
    });

    test("does not restore a revision that stopped at a gate", async () => {
      await expect(apply(["a", "b", "c"], rolling("stop"))).rejects.toMatchObject({ kind: "partial-failure" });
      await expect(apply(["a", "b"], rolling("roll-back"))).rejects.toMatchObject({ kind: "partial-failure" });
      fixture.clusters.stuck.clear();
      await fixture.assertConverged(manager);
      expect((await manager.service.get(KEY)).value.deployment).toMatchObject({ targetClusters: ["a", "b", "c"] });
      expect((await manager.service.record(KEY))?.desired?.revision).toBe(1);
    });
  });

  test("fails and leaves no unit when one rejection undoes the roll-out", async () => {
    await another({ rollBackOnPartial: true });
    fixture.clusters.rejecting.add("c");
    await expect(apply(["a", "b", "c"])).rejects.toMatchObject({
      kind: "partial-failure",
      retryable: false,
      message: expect.stringMatching(/^deployment "orders" was undone because it failed in c: /),
    });
    fixture.clusters.rejecting.clear();
    await fixture.assertConverged(manager);
    expect(inUse()).toBe("");
  });

  test("does not retry a permanent rejection and says so", async () => {
    fixture.clusters.rejecting.add("c");
    fixture.clusters.down.add("b");
    const { message } = await apply(["a", "b", "c"]);
    expect(message).toMatch(/^continues in the background: b: .*; rejected; apply the deployment again to retry: c: /);
  });

  test("respects max_parallel", async () => {
    let [now, most] = [0, 0];
    manager.onCall = async (_, effect) => {
      most = Math.max(most, (now += 1));
      await sleep(fixture.at.ambient.timers, 100);
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
  test("leaves a tombstone in an unreachable cluster and finishes when it returns", async () => {
    await apply(["a", "b"]);
    fixture.clusters.down.add("b");
    expect(await remove()).toMatchObject({ status: "accepted", deleted: ["a"], pending: ["b"] });
    expect((await manager.service.get(KEY)).value.condition).toBe("deleted");
    expect(await manager.service.mappings(KEY)).toEqual({ b: expect.stringMatching(/^orders-b-/) });
    const before = fixture.clusters.calls.length;
    await fixture.drive(manager.drift.sweep());
    expect(fixture.clusters.calls, "an unreachable cluster is left alone").toHaveLength(before);
    fixture.clusters.down.clear();
    expect((await fixture.drive(manager.drift.sweep())).repaired).toEqual(["orders"]);
    await fixture.untilIdle(manager);
    expect(fixture.clusters.inventory).toEqual([]);
    await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("keeps wanted units when the deployment is created again before its tombstone is removed", async () => {
    await apply(["a", "b", "c"]);
    fixture.clusters.down.add("b").add("c");
    await remove();
    fixture.clusters.down.delete("c");
    expect(await apply(["a", "c"])).toMatchObject({ status: "created" });
    expect((await manager.service.get(KEY)).value.condition).toBe("deploying");
    await fixture.assertConverged(manager);
    expect(inUse()).toBe("a c");
  });

  test("deletes in one cluster, and deletes the deployment with its last cluster", async () => {
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
      outcome: "accepted",
    });
    await remove({ cluster: "b" as ClusterName });
    await expect(manager.service.get(KEY)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("concurrent operations", () => {
  const slow = (): void => {
    manager.onCall = async (_, effect) => sleep(fixture.at.ambient.timers, 1_000).then(effect);
  };

  test("supersede a running roll-out, which stops before its next step", async () => {
    const rollout = { strategy: "rolling", gate: "accepted", onFailure: "stop" } as const;
    slow();
    const first = manager.service.apply({ deployment: deploymentFor(["a", "b", "c"], { rollout }) }, CALL, {});
    await fixture.advance(500);
    const second = manager.service.apply({ deployment: deploymentFor(["c"]) }, CALL, {});
    expect(await fixture.drive(first)).toMatchObject({ status: "accepted", message: expect.stringMatching(/newer/) });
    expect(await fixture.drive(second)).toMatchObject({ status: "updated" });
    expect(inUse()).toBe("c");
    expect(calls()).toEqual(["deploy a", "deploy c", ...calls().slice(2)]);
    expect((await manager.service.revision(KEY, 1)).clusters["*"]).toBe("superseded by revision 2");
  });

  test("never run two sagas of one key, also across processes", async () => {
    const other = await fixture.manager();
    let now = 0;
    for (const each of [manager, other]) {
      each.onCall = async (_, effect) => {
        expect((now += 1)).toBeLessThan(2);
        await sleep(fixture.at.ambient.timers, 1_000);
        effect();
        now -= 1;
      };
    }
    const first = manager.service.apply({ deployment: deploymentFor(["a"]) }, CALL, {});
    await fixture.advance(300);
    const second = other.service.remove(KEY, CALL, {});
    await fixture.drive(Promise.all([first, second]));
    await fixture.untilIdle(manager);
    expect(fixture.clusters.inventory).toEqual([]);
  });

  test("restore the previous state when cancelled", async () => {
    await apply(["a", "b"]);
    const before = fixture.clusters.inventory;
    fixture.publish();
    slow();
    const update = manager.service.apply({ deployment: deploymentFor(["a", "b", "c"]) }, CALL, {});
    await fixture.advance(200);
    await fixture.drive(manager.service.cancel(KEY, { ...CALL, caller: "eve" }));
    await expect(fixture.drive(update)).rejects.toMatchObject({ kind: "cancelled" });
    expect(manager.service.operation(KEY)).toMatchObject({ state: "cancelled" });
    await fixture.assertConverged(manager);
    expect(fixture.clusters.inventory).toEqual(before);
    expect((await manager.service.revision(KEY, 2)).outcome).toBe("cancelled");
    await expect(manager.service.cancel(KEY, CALL)).rejects.toMatchObject({ kind: "failed-precondition" });
  });
});

describe("history", () => {
  test("records author, reason and outcome, shows differences, and rolls back", async () => {
    await apply(["a"]);
    await apply(["a", "b"]);
    const { items, total } = await manager.service.revisions(KEY, { limit: 1 });
    expect(total).toBe(2);
    expect(items).toMatchObject([
      {
        revision: 2,
        author: "ann",
        reason: "because",
        outcome: "accepted",
        clusters: { a: "accepted", b: "accepted" },
      },
    ]);
    const { changes } = await manager.service.diff(KEY);
    expect(changes).toContainEqual({ path: "$.target_clusters.b", change: "added", after: "b" });
    const back = await fixture.drive(manager.service.rollBack(KEY, 1, { ...CALL, caller: "bob" }, {}));
    expect(back.status).toBe("updated");
    expect(inUse()).toBe("a");
    expect(await manager.service.revision(KEY, 3)).toMatchObject({ author: "bob", outcome: "accepted" });
    const same = manager.service.rollBack(KEY, 3, CALL, {});
    expect(await fixture.drive(same)).toMatchObject({ status: "unchanged" });
    await expect(manager.service.revision(KEY, 9)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("shows what runs differently when only the package changed", async () => {
    await apply(["a"]);
    const [first, ...others] = fixture.package.functions;
    const image = { ...(first?.provision ?? EMPTY_PROVISION), containerImage: "example.test/new:2" };
    fixture.package = {
      ...fixture.package,
      functions: [{ ...(first as NonNullable<typeof first>), provision: image }, ...others],
    };
    const { changes: planned } = await manager.service.plan({ deployment: deploymentFor(["a"]) }, CALL);
    expect(planned).toMatchObject([
      {
        path: expect.stringContaining("container_image"),
        effect: expect.stringMatching(/^the pods of .* are replaced$/),
      },
    ]);
    await apply(["a"]);
    const { changes, resolvedChanges } = await manager.service.diff(KEY);
    expect(changes).toEqual([]);
    expect(resolvedChanges).toEqual(planned);
  });

  test("plans with a package that is about to be applied", async () => {
    const { package: registered } = fixture;
    const scaled = registered.functions.map((fn) => ({
      ...fn,
      provision: { ...(fn.provision ?? EMPTY_PROVISION), maxScale: 1 },
    }));
    const deployment = deploymentFor(["a"], { nfr: { minThroughputRps: 5000 } });
    const assumed = { ...registered, functions: scaled };
    await manager.service.plan({ deployment }, CALL);
    await expect(manager.service.plan({ deployment, whatIf: { package: assumed } }, CALL)).rejects.toMatchObject({
      kind: "invalid-argument",
      message: expect.stringContaining("max_scale"),
    });
    const other = { ...assumed, name: "other" as PackageName };
    await expect(manager.service.plan({ deployment, whatIf: { package: other } }, CALL)).rejects.toMatchObject({
      violations: [{ path: "$.what_if.package.name" }],
    });
    expect((await manager.service.plan({ deployment }, CALL)).plan.shared.packageRevision, "nothing is stored").toBe(1);
  });

  test("rejects a rollback to a disabled class and keeps the current revision running", async () => {
    await apply(["a"]);
    await apply(["b"]);
    fixture.package = { ...fixture.package, disabled: true };
    await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringMatching(/is disabled and cannot be deployed; enable it first$/),
    });
    expect(inUse()).toBe("b");
    fixture.package = { ...fixture.package, disabled: false };
    await fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}));
    expect(inUse()).toBe("a");
  });

  test("rejects a rollback to another layout of the state store", async () => {
    const of = (partitionCount: number, allowLayoutChange = false) => ({
      odgm: { collections: [], nodeIds: {}, partitionCount, allowLayoutChange },
    });
    await apply(["a"], of(2));
    await expect(apply(["a"], of(3))).rejects.toMatchObject({ kind: "invalid-argument" });
    await apply(["a"], of(3, true));
    await expect(fixture.drive(manager.service.rollBack(KEY, 1, CALL, {}))).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringContaining("the partitions change from 3 to 2"),
    });
  });

  test("is bounded and always keeps the revision in force", async () => {
    await another({ history: 2 });
    for (const clusters of [["a"], ["b"], ["c"], ["a", "b"]]) await apply(clusters);
    const page = await manager.service.revisions(KEY, {});
    expect(page.items.map(({ revision }) => revision)).toEqual([4, 3]);
    expect(page.total).toBe(2);
    await expect(manager.service.revision(KEY, 2)).rejects.toMatchObject({
      kind: "not-found",
      message: 'revision 2 of deployment "orders" was removed; the oldest is 3 (DEPLOYMENT_REVISIONS_KEEP)',
    });
    await expect(fixture.drive(manager.service.rollBack(KEY, 2, CALL, {}))).rejects.toThrow("was removed");
    const { entries } = await storedRevisions();
    expect(
      entries.map(({ key }) => key.slice(-1)),
      "revisions and plans",
    ).toEqual(["3", "4", "3", "4"]);
  });

  test("shrinks after the limit was lowered, a few revisions per write", async () => {
    await another({ history: 20 });
    for (let n = 0; n < 12; n += 1) await apply([n % 2 === 0 ? "a" : "b"]);
    await another({ history: 2 });
    await apply(["a"]);
    expect((await storedRevisions()).entries).toHaveLength(8 * 2);
    expect((await manager.service.revisions(KEY, {})).items.at(-1)?.revision).toBe(6);
    for (const clusters of [["b"], ["a"]]) await apply(clusters);
    expect((await storedRevisions()).entries).toHaveLength(2 * 2);
    expect((await manager.service.revisions(KEY, {})).items.map(({ revision }) => revision)).toEqual([15, 14]);
  });

  test("keeps the revision to fall back to, and releases it after the next success", async () => {
    await another({ history: 2 });
    await apply(["a"]);
    fixture.clusters.down.add("b");
    for (let n = 0; n < 4; n += 1) await apply(n % 2 === 0 ? ["a", "b"] : ["b"]).catch(() => undefined);
    const stable = (await manager.parts.deployments.get(KEY))?.record.stable?.revision ?? 0;
    const { items, total } = await manager.service.revisions(KEY, {});
    expect(items.map(({ revision }) => revision)).toContain(stable);
    expect(total).toBe(items.length);
    fixture.clusters.down.clear();
    for (const clusters of [["a"], ["c"], ["a", "c"], ["c"]]) await apply(clusters);
    expect((await storedRevisions()).entries).toHaveLength(2 * 2);
  });
});

const storedRevisions = async () => (await fixture.at.connect()).range({ prefix: "c/deployment-" });

describe("lists", () => {
  test("filter by every parameter, sort and page", async () => {
    await apply(["a"], { key: "one" as DeploymentKey, environmentKind: "edge" });
    await fixture.advance(1_000);
    await apply(["b"], { key: "two" as DeploymentKey });
    await fixture.advance(1_000);
    await apply(["a", "b"], { key: "three" as DeploymentKey });
    const keys = async (query: Parameters<typeof manager.service.list>[0]): Promise<string> =>
      (await manager.service.list(query)).items.map(({ deployment }) => deployment.key).join(" ");
    expect(await keys({})).toBe("one three two");
    expect(await keys({ targetCluster: "b" })).toBe("three two");
    expect(await keys({ targetEnv: "edge" })).toBe("one");
    expect(await keys({ targetEnv: "b" }), "also by the name of a cluster, as in the earlier API").toBe("three two");
    expect(await keys({ classKey: "shop.Order", packageName: "shop", sort: "-created_at" })).toBe("three two one");
    expect(await keys({ condition: "RUNNING" })).toBe("");
    await fixture.drive(manager.drift.sweep());
    expect(await keys({ condition: "RUNNING", limit: 2 })).toBe("one three");
    expect(await keys({ packageName: "none" })).toBe("");
  });
});
