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

/** What is asked of a class that is as `from` says, or not there. */
interface Scenario {
  readonly name: string;
  readonly from?: DesiredClass;
  /** Undefined deletes it. */
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
  { name: "to-user-template", from: SMALL, to: { ...SMALL, template: "patient" } },
  { name: "scale", from: SMALL, to: { functions: { "Order.create": { tag: "1", min: 3 } }, template: "dev" } },
  { name: "delete", from: BASE, to: undefined },
];

/** Classes that are prepared at once: the cluster has addresses for 250 Services. */
const AT_ONCE = 40;
/** Classes of each scenario that stay for the manager that starts at the end. */
const KEPT = 4;

/** How a scenario goes when nobody disturbs it. */
interface Reference {
  readonly wanted: NamespaceSnapshot;
  readonly calls: number;
}

describeOnTarget("the manager is killed at its calls, before or after the server has done them", {}, () => {
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
      // A sweep has a class for every point, and a node takes 110 pods.
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

  const becomes = (namespace: string, wanted: NamespaceSnapshot): Promise<unknown> =>
    eventually(async () => assertEqualSnapshots(await snapshotNamespace(client, namespace), wanted), {
      timeoutMs: 90_000,
      what: `the wanted world in ${namespace}`,
    });
  const isAvailable = (namespace: string): Promise<unknown> =>
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
    await createUserTemplate(client, namespace, "patient");
    if (!from) return;
    await applyClass(client, namespace, "order", from);
    await isAvailable(namespace);
  };
  const act = async ({ to }: Scenario, namespace: string): Promise<void> => {
    if (to) await applyClass(client, namespace, "order", to);
    else await client.resource(CLASS_RUNTIMES).delete({ namespace, name: "order" });
  };

  /** Makes room for the next ones: nodes, and addresses of Services. */
  const discard = async (namespaces: readonly string[]): Promise<void> => {
    const classes = client.resource(CLASS_RUNTIMES);
    for (const namespace of namespaces)
      if (await classes.find({ namespace, name: "order" })) await classes.delete({ namespace, name: "order" });
    for (const namespace of namespaces) await becomes(namespace, new Map());
  };

  const references = new Map<Scenario, Reference>();
  const refer = async (scenario: Scenario): Promise<void> => {
    const namespace = `${scenario.name}-alone`;
    await prepare(scenario, namespace);
    await eventually(() => crm.isIdle());
    const before = crm.countCalls(namespace);
    await act(scenario, namespace);
    await (scenario.to ? isAvailable(namespace) : becomes(namespace, new Map()));
    await eventually(() => crm.isIdle());
    // The last pods of what was there before may outlive the roll-out that the class speaks of.
    const wanted = await eventually(
      async () => {
        const world = await snapshotNamespace(client, namespace);
        const pods = new Map([...world].filter(([id]) => id.startsWith("Pods of ")));
        assertEqualSnapshots(pods, desiredPods(world));
        return world;
      },
      { timeoutMs: 90_000, what: `the pods of ${namespace}, and no others` },
    );
    references.set(scenario, { wanted, calls: crm.countCalls(namespace) - before });
  };
  beforeAll(() => Promise.all(SCENARIOS.map(refer)));

  test.each(SCENARIOS)(
    "during $name: the same world in the end",
    async (scenario) => {
      const { wanted, calls } = references.get(scenario) ?? { wanted: new Map(), calls: 0 };
      const points = sweepSize(0, 1) === 1 ? everyPoint(calls) : [onePoint(calls, SCENARIOS.indexOf(scenario))];
      const namespaceOf = ({ nth, moment }: KillPoint): string => `${scenario.name}-${nth}-${moment}`;
      for (let from = 0; from < points.length; from += AT_ONCE) {
        const portion = points.slice(from, from + AT_ONCE);
        await Promise.all(portion.map((point) => prepare(scenario, namespaceOf(point))));
        await eventually(() => crm.isIdle());
        planned += portion.length;
        for (const point of portion) {
          const namespace = namespaceOf(point);
          crm.killAt(namespace, point.nth, point.moment);
          await act(scenario, namespace);
          const isDone = async (): Promise<boolean> =>
            differences(await snapshotNamespace(client, namespace), wanted).length === 0 && (await crm.isIdle());
          await eventually(async () => crm.isKilled || (await isDone()), {
            timeoutMs: 90_000,
            what: `the call, or the end, of ${namespace}`,
          });
          if (crm.isKilled) kills += 1;
          await crm.restartIfKilled();
        }
        for (const point of portion) await becomes(namespaceOf(point), wanted);
        await discard(portion.slice(from === 0 ? KEPT : 0).map(namespaceOf));
      }
    },
    sweepSize(240_000, 3_600_000),
  );

  test("it was killed often enough", () => {
    // The number of the last calls depends on how quickly pods come up; most points must have been met.
    expect(kills).toBeGreaterThanOrEqual(planned / 2);
  });

  test("afterwards a manager that starts finds nothing to write", async () => {
    const classes = await client.resource(CLASS_RUNTIMES).list();
    await crm.restart();
    await eventually(() => crm.isIdle(classes.items.length), {
      timeoutMs: 120_000,
      what: "the manager to have looked at every class",
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

/** One point in the middle of the work, by turns before and after a call, earlier and later. */
function onePoint(calls: number, turn: number): KillPoint {
  const share = [0.25, 0.6, 0.4][turn % 3] ?? 0.5;
  return { nth: Math.max(1, Math.ceil(share * calls)), moment: turn % 2 === 0 ? "before" : "after" };
}
