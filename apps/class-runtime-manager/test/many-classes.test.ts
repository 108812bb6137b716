import { realAmbient } from "@oaas/foundation/real";
import { KubeClient } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { describeOnTarget, eventually, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClassManager } from "../src/controller/class-manager.ts";
import { CLASS_RUNTIMES } from "../src/controller/kinds/resource-types.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { FACTS } from "./support/controller-fixture.ts";
import { createFaultInjectingTransport } from "./support/fault-injecting-transport.ts";
import { applyClass, createNamespace, adminClient, type DesiredClass } from "./support/namespace-snapshot.ts";

const DESIRED: DesiredClass = { functions: { a: "1", b: "1" }, template: "dev" };
const CLASSES = 24;
/** A Deployment and a Service for each function. */
const CHILDREN = 4;
/** Classes reconciled in parallel. */
const CONCURRENCY = 4;

describeOnTarget("many classes at once", {}, () => {
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

  test("applies children of all classes before status writes", async () => {
    const namespace = "many";
    await createNamespace(client, namespace);
    const names = Array.from({ length: CLASSES }, (_, index) => `order-${index}`);
    for (const name of names) await applyClass(client, namespace, name, DESIRED);
    const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
    const transport = createFaultInjectingTransport(createUndiciTransport(access, realAmbient));
    const { manager } = createClassManager({
      client: new KubeClient({ transport, ambient: realAmbient }),
      ambient: realAmbient,
      namespaces: [namespace],
      facts: FACTS,
      identity: "test",
      concurrency: CONCURRENCY,
    });
    try {
      manager.start();
      const countIncomplete = async (): Promise<number> => {
        const { items } = await client.resource(CLASS_RUNTIMES).list({ namespace });
        return items.filter(({ status }) => status?.resource_refs?.length !== CHILDREN).length;
      };
      await eventually(async () => (await countIncomplete()) === 0, {
        timeoutMs: 120_000,
        what: "the status of all classes",
      });
      const { writes } = transport;
      const isStatusWrite = (write: string): boolean => write.endsWith("/status");
      const childrenIn = (some: readonly string[]): string[] =>
        some.filter((write) => /^PATCH (deployments|services)\//.test(write));
      expect(childrenIn(writes)).toHaveLength(CLASSES * CHILDREN);
      // While the last classes are reconciled, idle workers start to write the status of the first.
      const before = childrenIn(writes.slice(0, writes.findIndex(isStatusWrite)));
      expect(before.length).toBeGreaterThanOrEqual((CLASSES - CONCURRENCY) * CHILDREN);
    } finally {
      await manager.stop();
      await transport.close();
    }
  });
});
