import type { KubeClient } from "@oaas/kube-runtime";
import {
  describeOnTarget,
  eventually,
  makeRunFolder,
  sweepSize,
  type KubernetesUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CLASS_RUNTIMES } from "../src/controller/kinds/resource-types.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { startKillableManager, type KillMoment, type KillableManager } from "./support/killable-manager.ts";
import {
  applyClass,
  desiredPods,
  differences,
  createNamespace,
  createUserTemplate,
  assertEqualSnapshots,
  adminClient,
  snapshotNamespace,
  type DesiredClass,
  type NamespaceSnapshot,
} from "./support/namespace-snapshot.ts";

/** A change of a class from one desired state to another. */
interface Scenario {
  readonly name: string;
  readonly from?: DesiredClass;
  /** Undefined deletes the class. */
  readonly to: DesiredClass | undefined;
}

const BASE: DesiredClass = { functions: { "Order.create": "1", "Order.cancel": "1" }, odgm: true };
const SMALL: DesiredClass = { functions: { "Order.create": "1" }, template: "dev" };

const SCENARIOS: readonly Scenario[] = [
  { name: "create", to: BASE },
  {
    name: "update",
    from: BASE,
    to: { functions: { "Order.create": "2", "Order.pay": "1" }, odgm: true },
  },
  { name: "to-statefulset", from: SMALL, to: { ...SMALL, template: "statefulset" } },
  { name: "from-statefulset", from: { ...SMALL, template: "statefulset" }, to: SMALL },
  { name: "to-user-template", from: SMALL, to: { ...SMALL, template: "slow-stop" } },
  { name: "scale", from: SMALL, to: { functions: { "Order.create": { tag: "1", min: 3 } }, template: "dev" } },
  { name: "delete", from: BASE, to: undefined },
];

/** Classes prepared in parallel: the cluster has addresses for 250 Services. */
const BATCH_SIZE = 40;
/** Classes of each scenario that remain for the last restart. */
const KEPT = 4;

/** The result of a scenario without a kill. */
interface Reference {
  readonly expected: NamespaceSnapshot;
  readonly calls: number;
}

describeOnTarget("kill the manager before or after an API call", {}, () => {
  let cluster: KubernetesUnderTest;
  let folder: RunFolder;
  let client: KubeClient;
  let crm: KillableManager;
  let planned = 0;
  let kills = 0;

  beforeAll(async () => {
    cluster = await startClassCluster({
      controllerManager: true,
      scheduler: true,
      // A sweep has a class per kill point, and a node runs 110 pods.
      kwokNodes: sweepSize(2, 8),
    });
    folder = await makeRunFolder("kill-points");
    client = adminClient(cluster);
    crm = await startKillableManager(cluster, folder.path);
  });
  afterAll(async () => {
    await crm.close();
    await client.close();
    await cluster.close();
    await folder.remove();
  });

  const waitForSnapshot = (namespace: string, expected: NamespaceSnapshot): Promise<unknown> =>
    eventually(async () => assertEqualSnapshots(await snapshotNamespace(client, namespace), expected), {
      timeoutMs: 90_000,
      what: `the expected objects in ${namespace}`,
    });
  const waitUntilAvailable = (namespace: string): Promise<unknown> =>
    eventually(
      async () => {
        const { metadata, status } = await client.resource(CLASS_RUNTIMES).get({ namespace, name: "order" });
        if (status?.phase !== "available" || status.observedGeneration !== metadata.generation)
          throw new Error(`${status?.phase}: ${status?.message}`);
      },
      { timeoutMs: 90_000, what: `the class in ${namespace} to be available` },
    );
  const prepare = async ({ from }: Scenario, namespace: string): Promise<void> => {
    await createNamespace(client, namespace);
    await createUserTemplate(client, namespace, "slow-stop");
    if (!from) return;
    await applyClass(client, namespace, "order", from);
    await waitUntilAvailable(namespace);
  };
  const changeClass = async ({ to }: Scenario, namespace: string): Promise<void> => {
    if (to) await applyClass(client, namespace, "order", to);
    else await client.resource(CLASS_RUNTIMES).delete({ namespace, name: "order" });
  };

  /** Deletes classes to free nodes and Service addresses. */
  const discard = async (namespaces: readonly string[]): Promise<void> => {
    const classes = client.resource(CLASS_RUNTIMES);
    for (const namespace of namespaces)
      if (await classes.find({ namespace, name: "order" })) await classes.delete({ namespace, name: "order" });
    for (const namespace of namespaces) await waitForSnapshot(namespace, new Map());
  };

  const references = new Map<Scenario, Reference>();
  const runReference = async (scenario: Scenario): Promise<void> => {
    const namespace = `${scenario.name}-alone`;
    await prepare(scenario, namespace);
    await eventually(() => crm.isIdle());
    const before = crm.countCalls(namespace);
    await changeClass(scenario, namespace);
    await (scenario.to ? waitUntilAvailable(namespace) : waitForSnapshot(namespace, new Map()));
    await eventually(() => crm.isIdle());
    // Old pods may still be terminating after the roll-out has completed.
    const expected = await eventually(
      async () => {
        const snapshot = await snapshotNamespace(client, namespace);
        const pods = new Map([...snapshot].filter(([id]) => id.startsWith("Pods of ")));
        assertEqualSnapshots(pods, desiredPods(snapshot));
        return snapshot;
      },
      { timeoutMs: 90_000, what: `only the desired pods in ${namespace}` },
    );
    references.set(scenario, { expected, calls: crm.countCalls(namespace) - before });
  };
  beforeAll(() => Promise.all(SCENARIOS.map(runReference)));

  test.each(SCENARIOS)(
    "converges after a kill during $name",
    async (scenario) => {
      const { expected, calls } = references.get(scenario) ?? { expected: new Map(), calls: 0 };
      const points = sweepSize(0, 1) === 1 ? everyPoint(calls) : [onePoint(calls, SCENARIOS.indexOf(scenario))];
      const namespaceOf = ({ nth, moment }: KillPoint): string => `${scenario.name}-${nth}-${moment}`;
      for (let from = 0; from < points.length; from += BATCH_SIZE) {
        const batch = points.slice(from, from + BATCH_SIZE);
        await Promise.all(batch.map((point) => prepare(scenario, namespaceOf(point))));
        await eventually(() => crm.isIdle());
        planned += batch.length;
        for (const point of batch) {
          const namespace = namespaceOf(point);
          crm.killAt(namespace, point.nth, point.moment);
          await changeClass(scenario, namespace);
          const isDone = async (): Promise<boolean> =>
            differences(await snapshotNamespace(client, namespace), expected).length === 0 && (await crm.isIdle());
          await eventually(async () => crm.isKilled || (await isDone()), {
            timeoutMs: 90_000,
            what: `the call, or the end, of ${namespace}`,
          });
          if (crm.isKilled) kills += 1;
          await crm.restartIfKilled();
        }
        for (const point of batch) await waitForSnapshot(namespaceOf(point), expected);
        await discard(batch.slice(from === 0 ? KEPT : 0).map(namespaceOf));
      }
    },
    sweepSize(240_000, 3_600_000),
  );

  test("reached most kill points", () => {
    // The number of the last calls depends on the speed of the pods, so some points are not reached.
    expect(kills).toBeGreaterThanOrEqual(planned / 2);
  });

  test("writes nothing after a restart", async () => {
    const classes = await client.resource(CLASS_RUNTIMES).list();
    await crm.restart();
    await eventually(() => crm.isIdle(classes.items.length), {
      timeoutMs: 120_000,
      what: "a reconcile of every class",
    });
    expect(crm.written).toEqual([]);
  });
});

interface KillPoint {
  readonly nth: number;
  readonly moment: KillMoment;
}

/** Before and after each call. */
function everyPoint(calls: number): KillPoint[] {
  return Array.from({ length: calls }, (_, index) => index + 1).flatMap((nth) => [
    { nth, moment: "before" },
    { nth, moment: "after" },
  ]);
}

/** One kill point in the middle, alternating between before and after a call. */
function onePoint(calls: number, index: number): KillPoint {
  const share = [0.25, 0.6, 0.4][index % 3] ?? 0.5;
  return { nth: Math.max(1, Math.ceil(share * calls)), moment: index % 2 === 0 ? "before" : "after" };
}
