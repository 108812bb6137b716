import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { DeleteOptions } from "../cluster-objects.ts";
import { garbageCollector, namespaceController } from "../index.ts";
import { typed } from "../objects/cluster-view.ts";
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  EVENTS,
  KNATIVE_SERVICES,
  NAMESPACES,
  NODES,
  PODS,
  REPLICA_SETS,
  SERVICE_ACCOUNTS,
  type Resource,
} from "../objects/resources.ts";
import { workloadSimulation } from "../simulation.ts";
import { conditionsText, deployment, TEST_SERVERS, Lab } from "../testing/lab.ts";

describe.each(TEST_SERVERS)("on %s:", (ground) => {
  async function started(): Promise<Lab> {
    const lab = await Lab.on(ground);
    await lab.start(garbageCollector(lab.ports), namespaceController(lab.ports));
    return lab;
  }

  /** An object with these owners. */
  async function owned(
    lab: Lab,
    name: string,
    owners: readonly JsonObject[] = [],
    more: object = {},
    kind: Resource = CONFIG_MAPS,
  ): Promise<JsonObject> {
    const ownerReferences = owners.map((owner) => {
      const { apiVersion, kind: ownerKind, metadata } = typed(owner);
      return { apiVersion, kind: ownerKind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true };
    });
    return lab.create(kind, {
      metadata: { name, namespace: "default", ...(owners.length === 0 ? {} : { ownerReferences }), ...more },
    });
  }

  async function removed(lab: Lab, name: string, options: DeleteOptions = {}): Promise<void> {
    await lab.cluster.delete(CONFIG_MAPS, { namespace: "default", name }, options);
    await lab.settle();
  }

  const listRemaining = (lab: Lab): string[] =>
    lab.cluster
      .list(CONFIG_MAPS, "default")
      .map((object) => typed(object).metadata.name)
      .filter((name) => name !== "kube-root-ca.crt");

  async function change(lab: Lab, name: string, metadata: (before: object) => object): Promise<void> {
    await lab.change(CONFIG_MAPS, name, (object) => ({ ...object, metadata: metadata(typed(object).metadata) }));
  }

  describe("garbage collection", () => {
    test("background: deletes dependents of a deleted owner recursively", async () => {
      const lab = await started();
      const owner = await owned(lab, "a");
      const child = await owned(lab, "b", [owner]);
      await owned(lab, "c", [child]);
      await owned(lab, "d");
      await removed(lab, "a", { propagation: "Background" });
      expect(listRemaining(lab)).toEqual(["d"]);
    });

    test("foreground: deletes the owner last", async () => {
      const lab = await started();
      const owner = await owned(lab, "a");
      await owned(lab, "b", [owner], { finalizers: ["example.test/hold"] });
      await owned(lab, "c", [owner]);
      await removed(lab, "a", { propagation: "Foreground" });
      expect(listRemaining(lab)).toEqual(["a", "b"]);
      expect(typed(lab.object(CONFIG_MAPS, "a")).metadata).toMatchObject({ finalizers: ["foregroundDeletion"] });
      await change(lab, "b", (metadata) => ({ ...metadata, finalizers: [] }));
      expect(listRemaining(lab)).toEqual([]);
    });

    test("foreground: does not wait for non-blocking dependents", async () => {
      const lab = await started();
      const owner = typed(await owned(lab, "a"));
      const ownerReferences = [
        { apiVersion: "v1", kind: "ConfigMap", name: "a", uid: owner.metadata.uid, blockOwnerDeletion: false },
      ];
      await owned(lab, "b", [], { ownerReferences, finalizers: ["example.test/hold"] });
      await removed(lab, "a", { propagation: "Foreground" });
      expect(listRemaining(lab)).toEqual(["b"]);
    });

    test("foreground: deletes non-blocking dependents too", async () => {
      const lab = await started();
      const owner = typed(await owned(lab, "a", [], { finalizers: ["example.test/hold"] }));
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: owner.metadata.uid }];
      await owned(lab, "b", [], { ownerReferences });
      await removed(lab, "a", { propagation: "Background" });
      expect(listRemaining(lab)).toEqual(["a", "b"]);
      await removed(lab, "a", { propagation: "Foreground" });
      expect(listRemaining(lab)).toEqual(["a"]);
    });

    test("orphan: keeps dependents and removes their owner reference", async () => {
      const lab = await started();
      const owner = await owned(lab, "a");
      await owned(lab, "b", [owner]);
      await removed(lab, "a", { propagation: "Orphan" });
      expect(listRemaining(lab)).toEqual(["b"]);
      expect(typed(lab.object(CONFIG_MAPS, "b")).metadata.ownerReferences).toBeUndefined();
    });

    test("keeps an object until both owners are deleted, and removes dangling references", async () => {
      const lab = await started();
      const owners = [await owned(lab, "a"), await owned(lab, "b")];
      await owned(lab, "c", owners);
      await removed(lab, "a");
      expect(listRemaining(lab)).toEqual(["b", "c"]);
      expect(typed(lab.object(CONFIG_MAPS, "c")).metadata.ownerReferences).toMatchObject([{ name: "b" }]);
      await removed(lab, "b");
      expect(listRemaining(lab)).toEqual([]);
    });

    test("two owners, one deleted in the foreground: removes the reference and keeps the object", async () => {
      const lab = await started();
      const owners = [await owned(lab, "a"), await owned(lab, "b")];
      await owned(lab, "c", owners);
      await removed(lab, "a", { propagation: "Foreground" });
      expect(listRemaining(lab)).toEqual(["b", "c"]);
    });

    test("deletes an object whose owner never existed, has another uid, or is in another namespace", async () => {
      const lab = await started();
      const reference = {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: "gone",
        uid: "00000000-0000-4000-8000-000000000000",
      };
      await owned(lab, "a", [], { ownerReferences: [reference] });
      await owned(lab, "owner");
      await owned(lab, "b", [], { ownerReferences: [{ ...reference, name: "owner" }] });
      await lab.create(NAMESPACES, { metadata: { name: "other" } });
      const far = typed(await lab.create(CONFIG_MAPS, { metadata: { name: "far", namespace: "other" } }));
      await owned(lab, "c", [], { ownerReferences: [{ ...reference, name: "far", uid: far.metadata.uid }] });
      expect(listRemaining(lab)).toEqual(["owner"]);
    });

    test("accepts a cluster-scoped owner, and ignores an owner of an unserved kind", async () => {
      const lab = await started();
      const node = await lab.create(NODES, { metadata: { name: "n" } });
      await owned(lab, "a", [node]);
      const unknown = {
        apiVersion: "example.test/v1",
        kind: "Ghost",
        name: "g",
        uid: "00000000-0000-4000-8000-000000000001",
      };
      await owned(lab, "b", [], { ownerReferences: [unknown] });
      expect(listRemaining(lab)).toEqual(["a", "b"]);
      await lab.cluster.delete(NODES, { name: "n" }, {});
      await lab.settle();
      expect(listRemaining(lab)).toEqual(["b"]);
    });

    test("accepts owners of custom kinds", async () => {
      const lab = await started();
      const owner = await owned(lab, "a", [], {}, KNATIVE_SERVICES);
      await owned(lab, "b", [owner]);
      await lab.cluster.delete(KNATIVE_SERVICES, { namespace: "default", name: "a" }, {});
      await lab.settle();
      expect(listRemaining(lab)).toEqual([]);
    });

    test("a deleted Deployment deletes its ReplicaSets and Pods; a recreated one adopts orphans", async () => {
      const lab = await Lab.on(ground);
      await lab.start(garbageCollector(lab.ports), workloadSimulation(lab.ports, { containerEvents: false }));
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      const pods = lab.pods().map(({ metadata }) => metadata.name);
      await lab.cluster.delete(DEPLOYMENTS, { namespace: "default", name: "web" }, { propagation: "Orphan" });
      await lab.pass(1000);
      expect(lab.pods().map(({ metadata }) => metadata.name)).toEqual(pods);
      await lab.create(DEPLOYMENTS, deployment());
      await lab.pass(1000);
      expect(lab.pods().map(({ metadata }) => metadata.name)).toEqual(pods);
      await lab.cluster.delete(DEPLOYMENTS, { namespace: "default", name: "web" }, { propagation: "Foreground" });
      await lab.pass(1000);
      expect([DEPLOYMENTS, REPLICA_SETS, PODS].flatMap((kind) => lab.cluster.list(kind))).toEqual([]);
    });
  });

  describe("a namespace", () => {
    test("gets a service account and the root certificates, also after their deletion", async () => {
      const lab = await started();
      await lab.create(NAMESPACES, { metadata: { name: "n" }, spec: { finalizers: ["kubernetes"] } });
      expect(lab.cluster.get(SERVICE_ACCOUNTS, { namespace: "n", name: "default" })).toBeDefined();
      await lab.cluster.delete(CONFIG_MAPS, { namespace: "n", name: "kube-root-ca.crt" }, {});
      await lab.settle();
      expect(lab.cluster.get(CONFIG_MAPS, { namespace: "n", name: "kube-root-ca.crt" })).toMatchObject({
        data: { "ca.crt": "" },
      });
      lab.written();
      await lab.pass(3_600_000);
      expect(lab.written()).toBe(0);
    });

    test("is deleted with its content", async () => {
      const lab = await started();
      await lab.create(NAMESPACES, { metadata: { name: "n" }, spec: { finalizers: ["kubernetes"] } });
      await lab.create(CONFIG_MAPS, { metadata: { name: "c", namespace: "n" } });
      await lab.create(KNATIVE_SERVICES, { metadata: { name: "k", namespace: "n" } });
      await lab.cluster.delete(NAMESPACES, { name: "n" }, {});
      await lab.settle();
      expect(lab.cluster.get(NAMESPACES, { name: "n" })).toBeUndefined();
      expect(
        [CONFIG_MAPS, KNATIVE_SERVICES, SERVICE_ACCOUNTS, EVENTS].flatMap((kind) => lab.cluster.list(kind, "n")),
      ).toEqual([]);
    });

    test("waits for finalizers and reports them", async () => {
      const lab = await started();
      await lab.create(NAMESPACES, { metadata: { name: "n" }, spec: { finalizers: ["kubernetes"] } });
      await lab.create(CONFIG_MAPS, { metadata: { name: "c", namespace: "n", finalizers: ["example.test/hold"] } });
      await lab.cluster.delete(NAMESPACES, { name: "n" }, {});
      await lab.settle();
      expect(conditionsText(lab.object(NAMESPACES, "n"))).toBe(
        "NamespaceDeletionDiscoveryFailure=False(ResourcesDiscovered) NamespaceDeletionGroupVersionParsingFailure=False(ParsedGroupVersions) NamespaceDeletionContentFailure=False(ContentDeleted) NamespaceContentRemaining=True(SomeResourcesRemain) NamespaceFinalizersRemaining=True(SomeFinalizersRemain)",
      );
      expect(lab.object(NAMESPACES, "n")["status"]).toMatchObject({
        phase: "Terminating",
        conditions: [
          {},
          {},
          {},
          { message: "Some resources are remaining: configmaps. has 1 resource instances" },
          {
            message:
              "Some content in the namespace has finalizers remaining: example.test/hold in 1 resource instances",
          },
        ],
      });
      const waiting = lab.cluster.get(CONFIG_MAPS, { namespace: "n", name: "c" }) ?? {};
      await lab.cluster.update(
        CONFIG_MAPS,
        { ...waiting, metadata: { ...(waiting["metadata"] as JsonObject), finalizers: [] } },
        "tester",
      );
      await lab.settle();
      expect(lab.cluster.get(NAMESPACES, { name: "n" })).toBeUndefined();
    });
  });
});
