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
/** The Service of the second function of TWO. */
const SECOND = "order-fn-1";

const kindNamed = (kind: string): ChildKind => CORE_CHILD_KINDS.find((known) => known.kind === kind)!;
const SERVICES = kindNamed("Service");

describeOnTarget("ownership of children", {}, () => {
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

  const withManager = async (namespace: string, work: (crm: FaultInjectingManager) => Promise<void>): Promise<void> => {
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
  /** Waits until the status lists this many children. */
  const waitForRefs = (namespace: string, name: string, children: number): Promise<unknown> =>
    eventually(async () => (await statusOf(namespace, name))?.resource_refs?.length === children, {
      timeoutMs: 60_000,
      what: `${children} children in the status of ${name}`,
    });
  /** Waits until the status write for the deleted class was rejected for the new class of the same name. */
  const waitForRejectedStatus = async ({ writes }: FaultInjectingTransport, namespace: string): Promise<void> => {
    const sent = (): number => writes.filter((write) => write === "PATCH classruntimes/order/status").length;
    const before = sent();
    // The second write is sent after the response to the first.
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
    { case: "no field conflicts", namespace: "foreign", selector: {} },
    { case: "fields conflict", namespace: "foreign-conflict", selector: { selector: { app: "theirs" } } },
  ])("does not modify an object of another owner with the name of a child when $case", ({ namespace, selector }) =>
    withManager(namespace, async () => {
      const before = await client.resource(SERVICES).create(foreignService(namespace, selector));
      await applyClass(client, namespace, "order", TWO);
      const status = await eventually(
        async () => {
          const current = await statusOf(namespace);
          return current?.reason === "NameTaken" && current;
        },
        { timeoutMs: 60_000, what: "reason NameTaken" },
      );
      expect(status.message).toContain(`Service ${SECOND} belongs to another owner`);
      const after = await service(namespace, SECOND);
      expect(after).toEqual(before);
      // The other children are created at once, this one when the name is free.
      expect(await client.resource(kindNamed("Deployment")).find({ namespace, name: SECOND })).toBeDefined();
      await client.resource(SERVICES).delete({ namespace, name: SECOND });
      await waitForRefs(namespace, "order", 4);
      expect((await service(namespace, SECOND))?.metadata.ownerReferences?.[0]?.name).toBe("order");
    }),
  );

  test("adopts a child that lost owner and label before the status listed it, and prunes it later", () =>
    withManager("lost", async ({ transport }) => {
      const namespace = "lost";
      const isStatus = ({ target }: { target: string }): boolean => target === "classruntimes/order/status";
      const stripChild = async (): Promise<void> => {
        await eventually(async () => (await service(namespace, SECOND)) !== undefined);
        await client
          .resource(SERVICES)
          .patch({ namespace, name: SECOND }, "merge", { metadata: { labels: null, ownerReferences: null } });
      };
      transport.injectFault(isStatus, { do: "respond", status: 500, reason: "InternalError" });
      await applyClass(client, namespace, "order", TWO);
      await stripChild();
      transport.clearFault();
      await waitForRefs(namespace, "order", 4);
      await eventually(async () => (await service(namespace, SECOND))?.metadata.ownerReferences?.length === 1);

      transport.injectFault(({ method }) => method === "PATCH", {
        do: "respond",
        status: 500,
        reason: "InternalError",
      });
      await stripChild();
      await applyClass(client, namespace, "order", ONE);
      transport.clearFault();
      await eventually(async () => (await service(namespace, SECOND)) === undefined, {
        what: "the stray to be pruned",
      });
    }));

  test.each([
    { when: "before the controller wrote the status of the deleted class", namespace: "unheld", isLate: false },
    {
      when: "after the controller tried to write the status of the deleted class",
      namespace: "unheld-late",
      isLate: true,
    },
  ])("deletes the children of a class without finalizer whose name is reused, seen $when", ({ namespace, isLate }) =>
    withManager(namespace, async ({ transport }) => {
      const key = { namespace, name: "order" };
      const classes = client.resource(CLASS_RUNTIMES);
      transport.injectFault(({ target }) => target === "classruntimes/order/status", {
        do: "respond",
        status: 500,
        reason: "InternalError",
      });
      await applyClass(client, namespace, "order", TWO);
      await eventually(async () => (await service(namespace, SECOND)) !== undefined);
      // As when the server deletes the class at the moment it stores the finalizer.
      const release = transport.holdWatches();
      await classes.patch(key, "merge", { metadata: { finalizers: null } });
      await classes.delete(key);
      expect(await classes.find(key)).toBeUndefined();
      await applyClass(client, namespace, "order", ONE);
      transport.clearFault();
      try {
        if (isLate) await waitForRejectedStatus(transport, namespace);
      } finally {
        release();
      }
      await waitForRefs(namespace, "order", 2);
      await eventually(async () => (await service(namespace, SECOND)) === undefined, {
        what: "the children of the deleted class to be deleted",
      });
      await classes.delete(key);
      await eventually(async () => (await snapshotNamespace(client, namespace)).size === 0, {
        what: "an empty namespace",
      });
    }),
  );

  test("lists only the children of the deleted class", () =>
    withManager("crowd", async (manager) => {
      const { transport } = manager;
      const namespace = "crowd";
      const lists = new Set(CORE_CHILD_KINDS.map(({ resource }) => resource));
      /** Received characters of child lists during a deletion. */
      const costOfDeleting = async (name: string): Promise<number> => {
        await manager.waitUntilIdle();
        transport.resetRecords();
        await client.resource(CLASS_RUNTIMES).delete({ namespace, name });
        await eventually(async () => (await client.resource(CLASS_RUNTIMES).find({ namespace, name })) === undefined, {
          what: `${name} to be deleted`,
        });
        await manager.waitUntilIdle();
        return [...transport.received].reduce((sum, [target, size]) => (lists.has(target) ? sum + size : sum), 0);
      };
      const names = Array.from({ length: 24 }, (_, index) => `class-${index + 10}`);
      await applyClass(client, namespace, "class-00", TWO);
      await waitForRefs(namespace, "class-00", 4);
      const alone = await costOfDeleting("class-00");
      await Promise.all(names.map((name) => applyClass(client, namespace, name, TWO)));
      for (const name of names) await waitForRefs(namespace, name, 4);
      const amongMany = await costOfDeleting("class-10");
      // A retry after a conflict doubles the cost; lists of all children would cost many times as much.
      expect(amongMany).toBeLessThan(4 * alone);
      expect([...(await snapshotNamespace(client, namespace)).keys()].some((id) => id.includes("class-10"))).toBe(
        false,
      );
    }));

  test("creates a class with one write per child", () =>
    withManager("made", async (manager) => {
      const { transport } = manager;
      transport.resetRecords();
      await applyClass(client, "made", "order", TWO);
      await waitForRefs("made", "order", 4);
      await manager.waitUntilIdle();
      const written = transport.writes.filter((write) => !/ (events|classruntimes)/.test(write));
      expect(written.toSorted()).toEqual(
        ["deployments", "services"].flatMap((kind) => [0, 1].map((index) => `PATCH ${kind}/order-fn-${index}`)),
      );
      const child = await service("made", SECOND);
      expect(child?.metadata.managedFields?.map(({ manager, operation }) => [manager, operation])).toEqual([
        [FIELD_MANAGER, "Apply"],
      ]);
    }));
});
