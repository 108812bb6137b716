import type { KubeObject, Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { describeOnTarget, eventually, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLASS_RUNTIMES, CORE_CHILD_KINDS, type ChildKind } from "../src/controller/kinds/resource-types.ts";
import { FIELD_MANAGER } from "../src/controller/children/ownership.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { startFaultInjectingManager, type FaultInjectingManager } from "./support/fault-injecting-manager.ts";
import type { FaultInjectingTransport } from "./support/fault-injecting-transport.ts";
import {
  applyClass,
  createNamespace,
  adminClient,
  snapshotNamespace,
  type DesiredClass,
} from "./support/namespace-snapshot.ts";

const TWO: DesiredClass = { functions: { a: "1", b: "1" }, template: "dev" };
const ONE: DesiredClass = { functions: { a: "1" }, template: "dev" };
/** The service of TWO's second function. */
const SECOND = "order-fn-1";

const kindNamed = (kind: string): ChildKind => CORE_CHILD_KINDS.find((known) => known.kind === kind)!;
const SERVICES = kindNamed("Service");

describeOnTarget("whose an object is", {}, () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;

  beforeAll(async () => {
    cluster = await startClassCluster();
    client = adminClient(cluster);
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  const managed = async (namespace: string, work: (crm: FaultInjectingManager) => Promise<void>): Promise<void> => {
    await createNamespace(client, namespace);
    const crm = await startFaultInjectingManager(cluster, namespace);
    try {
      await work(crm);
    } finally {
      await crm.close();
    }
  };
  const statusOf = async (namespace: string, name = "order") =>
    (await client.resource(CLASS_RUNTIMES).get({ namespace, name })).status;
  const service = (namespace: string, name: string): Promise<Stored<KubeObject> | undefined> =>
    client.resource(SERVICES).find({ namespace, name });
  /** Waits until the class has told of every child. */
  const isTold = (namespace: string, name: string, children: number): Promise<unknown> =>
    eventually(async () => (await statusOf(namespace, name))?.resource_refs?.length === children, {
      timeoutMs: 60_000,
      what: `${name} to tell of ${children} children`,
    });
  /** Waits until the class that has the name has been kept from getting the news of another. */
  const isRefused = async ({ writes }: FaultInjectingTransport, namespace: string): Promise<void> => {
    const sent = (): number => writes.filter((write) => write === "PATCH classruntimes/order/status").length;
    const before = sent();
    // The second is sent after the first was answered.
    await eventually(() => sent() > before + 1, { timeoutMs: 20_000, what: "status to be sent twice" });
    expect(await statusOf(namespace)).toBeUndefined();
  };
  const foreignService = (namespace: string, selector: object): KubeObject =>
    ({
      apiVersion: "v1",
      kind: "Service",
      metadata: { namespace, name: SECOND },
      spec: { ports: [{ name: "theirs", port: 9 }], ...selector },
    }) as KubeObject;

  test.each([
    { why: "no field of it is in the way", namespace: "foreign", selector: {} },
    { why: "fields of it are in the way", namespace: "foreign-conflict", selector: { selector: { app: "theirs" } } },
  ])("an object of a child's name that is not ours is left as it is, also when $why", ({ namespace, selector }) =>
    managed(namespace, async () => {
      const before = await client.resource(SERVICES).create(foreignService(namespace, selector));
      await applyClass(client, namespace, "order", TWO);
      const status = await eventually(
        async () => {
          const told = await statusOf(namespace);
          return told?.reason === "NameTaken" && told;
        },
        { timeoutMs: 60_000, what: "the class to tell that the name is taken" },
      );
      expect(status.message).toContain(`Service ${SECOND} belongs to another owner`);
      const after = await service(namespace, SECOND);
      expect(after).toEqual(before);
      // What is not in the way is made all the same, and the rest when the name is free.
      expect(await client.resource(kindNamed("Deployment")).find({ namespace, name: SECOND })).toBeDefined();
      await client.resource(SERVICES).delete({ namespace, name: SECOND });
      await isTold(namespace, "order", 4);
      expect((await service(namespace, SECOND))?.metadata.ownerReferences?.[0]?.name).toBe("order");
    }),
  );

  test("a child that lost owner and label before the class told of it is taken back, and goes when it is not wanted", () =>
    managed("lost", async ({ transport }) => {
      const namespace = "lost";
      const isStatus = ({ target }: { target: string }): boolean => target === "classruntimes/order/status";
      const lose = async (): Promise<void> => {
        await eventually(async () => (await service(namespace, SECOND)) !== undefined);
        await client
          .resource(SERVICES)
          .patch({ namespace, name: SECOND }, "merge", { metadata: { labels: null, ownerReferences: null } });
      };
      transport.injectFault(isStatus, { do: "respond", status: 500, reason: "InternalError" });
      await applyClass(client, namespace, "order", TWO);
      await lose();
      transport.clearFault();
      await isTold(namespace, "order", 4);
      await eventually(async () => (await service(namespace, SECOND))?.metadata.ownerReferences?.length === 1);

      transport.injectFault(({ method }) => method === "PATCH", {
        do: "respond",
        status: 500,
        reason: "InternalError",
      });
      await lose();
      await applyClass(client, namespace, "order", ONE);
      transport.clearFault();
      await eventually(async () => (await service(namespace, SECOND)) === undefined, { what: "the stray to go" });
    }));

  test.each([
    { told: "before the controller tells of the former", namespace: "unheld", isLate: false },
    { told: "after the controller would have told of the former", namespace: "unheld-late", isLate: true },
  ])(
    "what was made for a class that nothing held any more goes too, also when its name is another's, which is seen $told",
    ({ namespace, isLate }) =>
      managed(namespace, async ({ transport }) => {
        const key = { namespace, name: "order" };
        const classes = client.resource(CLASS_RUNTIMES);
        transport.injectFault(({ target }) => target === "classruntimes/order/status", {
          do: "respond",
          status: 500,
          reason: "InternalError",
        });
        await applyClass(client, namespace, "order", TWO);
        await eventually(async () => (await service(namespace, SECOND)) !== undefined);
        // As when the server deletes it in the very moment in which it takes the finalizer.
        const release = transport.holdWatches();
        await classes.patch(key, "merge", { metadata: { finalizers: null } });
        await classes.delete(key);
        expect(await classes.find(key)).toBeUndefined();
        await applyClass(client, namespace, "order", ONE);
        transport.clearFault();
        try {
          if (isLate) await isRefused(transport, namespace);
        } finally {
          release();
        }
        await isTold(namespace, "order", 2);
        await eventually(async () => (await service(namespace, SECOND)) === undefined, { what: "what was left to go" });
        await classes.delete(key);
        await eventually(async () => (await snapshotNamespace(client, namespace)).size === 0, {
          what: "nothing to be left",
        });
      }),
  );

  test("nobody else's children are sent over when a class is deleted", () =>
    managed("crowd", async (manager) => {
      const { transport } = manager;
      const namespace = "crowd";
      const lists = new Set(CORE_CHILD_KINDS.map(({ resource }) => resource));
      /** How much comes back for lists of children while a class goes. */
      const costOfDeleting = async (name: string): Promise<number> => {
        await manager.waitUntilIdle();
        transport.resetRecords();
        await client.resource(CLASS_RUNTIMES).delete({ namespace, name });
        await eventually(async () => (await client.resource(CLASS_RUNTIMES).find({ namespace, name })) === undefined, {
          what: `${name} to be gone`,
        });
        await manager.waitUntilIdle();
        return [...transport.received].reduce((sum, [target, size]) => (lists.has(target) ? sum + size : sum), 0);
      };
      const names = Array.from({ length: 24 }, (_, index) => `class-${index + 10}`);
      await applyClass(client, namespace, "class-00", TWO);
      await isTold(namespace, "class-00", 4);
      const alone = await costOfDeleting("class-00");
      await Promise.all(names.map((name) => applyClass(client, namespace, name, TWO)));
      for (const name of names) await isTold(namespace, name, 4);
      const amongMany = await costOfDeleting("class-10");
      // Another look, as after a conflict, costs as much again; lists of everybody's children would be many times as long.
      expect(amongMany).toBeLessThan(4 * alone);
      expect([...(await snapshotNamespace(client, namespace)).keys()].some((id) => id.includes("class-10"))).toBe(
        false,
      );
    }));

  test("a class is made with one write for each child", () =>
    managed("made", async (manager) => {
      const { transport } = manager;
      transport.resetRecords();
      await applyClass(client, "made", "order", TWO);
      await isTold("made", "order", 4);
      await manager.waitUntilIdle();
      const made = transport.writes.filter((write) => !/ (events|classruntimes)/.test(write));
      expect(made.toSorted()).toEqual(
        ["deployments", "services"].flatMap((kind) => [0, 1].map((index) => `PATCH ${kind}/order-fn-${index}`)),
      );
      const child = await service("made", SECOND);
      expect(child?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
        [FIELD_MANAGER, "Apply"],
      ]);
    }));
});
