import { EVENTS, type KubeClient } from "@oaas/kube-runtime";
import { describeOnTarget, eventually, sweepSize, type KubernetesUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLASS_RUNTIMES } from "../src/controller/kinds/resource-types.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { startFaultInjectingManager, type FaultInjectingManager } from "./support/fault-injecting-manager.ts";
import type { Call, CallFault } from "./support/fault-injecting-transport.ts";
import {
  applyClass,
  createNamespace,
  assertEqualSnapshots,
  adminClient,
  snapshotNamespace,
  type DesiredClass,
  type NamespaceSnapshot,
} from "./support/namespace-snapshot.ts";

const BOTH: DesiredClass = { functions: { "Order.create": "1", "Order.cancel": "1" }, template: "dev" };
const ONE: DesiredClass = { functions: { "Order.create": "1" }, template: "dev" };

/** What can be asked of the class, and what it was before. */
const STAGES = {
  create: { from: undefined, to: BOTH },
  prune: { from: BOTH, to: ONE },
  delete: { from: BOTH, to: undefined },
} as const satisfies Record<string, { from: DesiredClass | undefined; to: DesiredClass | undefined }>;

type Stage = keyof typeof STAGES;

const FAULTS = {
  "409": { do: "respond", status: 409, reason: "Conflict" },
  "422": { do: "respond", status: 422, reason: "Invalid" },
  "403": { do: "respond", status: 403, reason: "Forbidden" },
  "429": { do: "respond", status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 },
  "500": { do: "respond", status: 500, reason: "InternalError" },
  "503": { do: "respond", status: 503, reason: "ServiceUnavailable" },
  "no answer": { do: "hang" },
  "a reset": { do: "reset" },
  "a lost answer": { do: "lose-response" },
} as const satisfies Record<string, CallFault>;

type FaultName = keyof typeof FAULTS;

/** What a class says of a fault that hits its children, and whether it warns. What was done all the same is no fault. */
const TOLD: Readonly<Record<FaultName, { readonly reason: string; readonly warns: boolean } | undefined>> = {
  "409": { reason: "ApiUnavailable", warns: false },
  "422": { reason: "ApplyInvalid", warns: true },
  "403": { reason: "Forbidden", warns: true },
  "429": { reason: "ApiUnavailable", warns: false },
  "500": { reason: "ApiUnavailable", warns: false },
  "503": { reason: "ApiUnavailable", warns: false },
  "no answer": { reason: "ApiUnavailable", warns: false },
  "a reset": { reason: "ApiUnavailable", warns: false },
  "a lost answer": undefined,
};

const STATUS = "PATCH classruntimes/order/status";

interface Target {
  readonly stage: Stage;
  readonly call: string;
  /** Whether the class can tell of it: the fault is not in the way of telling. */
  readonly tells?: boolean;
}

const TARGETS: readonly Target[] = [
  { stage: "create", call: "PATCH classruntimes/order" },
  { stage: "create", call: "PATCH services/order-fn-0", tells: true },
  { stage: "create", call: "PATCH deployments/order-fn-1", tells: true },
  { stage: "create", call: STATUS },
  { stage: "create", call: "POST events" },
  { stage: "prune", call: "DELETE deployments/order-fn-1" },
  { stage: "delete", call: "DELETE services/order-fn-0" },
  { stage: "delete", call: "GET services" },
  { stage: "delete", call: "PATCH classruntimes/order" },
];

const ROWS = TARGETS.flatMap((target) =>
  (Object.keys(FAULTS) as FaultName[])
    // A read that hangs or whose answer is lost is one and the same.
    .filter((fault) => !(target.call.startsWith("GET") && fault === "a lost answer"))
    .map((fault, index) => ({
      ...target,
      fault,
      id: `${target.call.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${index}`,
    })),
);

/** All in a sweep; in the gate those that differ most. */
const isSweep = sweepSize(0, 1) === 1;
const LASTING = ROWS.filter(
  ({ fault, tells }) => isSweep || tells || ["409", "403", "500", "no answer", "a lost answer"].includes(fault),
);
const PASSING = ROWS.filter(({ fault }) => isSweep || ["409", "500", "a lost answer"].includes(fault));

describeOnTarget("calls that fail", {}, () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  const wanted = new Map<Stage, NamespaceSnapshot>();
  const undisturbed = new Map<Stage, readonly string[]>();

  const classes = () => client.resource(CLASS_RUNTIMES);
  const act = async (namespace: string, wish: DesiredClass | undefined): Promise<void> => {
    if (wish) await applyClass(client, namespace, "order", wish);
    else await classes().delete({ namespace, name: "order" });
  };
  /** A class as it was before the stage, with a manager that has settled on it. */
  const prepare = async (stage: Stage, namespace: string): Promise<FaultInjectingManager> => {
    await createNamespace(client, namespace);
    const crm = await startFaultInjectingManager(cluster, namespace);
    const { from } = STAGES[stage];
    if (!from) return crm;
    await act(namespace, from);
    await isSettled(namespace);
    await crm.waitUntilIdle();
    crm.transport.resetRecords();
    return crm;
  };
  const isSettled = (namespace: string): Promise<unknown> =>
    eventually(async () => {
      const { metadata, status } = await classes().get({ namespace, name: "order" });
      return status?.observedGeneration === metadata.generation;
    });
  const becomes = (namespace: string, stage: Stage): Promise<unknown> =>
    eventually(
      async () => assertEqualSnapshots(await snapshotNamespace(client, namespace), wanted.get(stage) ?? new Map()),
      {
        timeoutMs: 60_000,
        what: `the end of ${stage}`,
      },
    );

  const warned = async (namespace: string, why: string): Promise<boolean> => {
    const { items } = await client.resource(EVENTS).list({ namespace });
    return items.some(({ reason, type }) => reason === why && type === "Warning");
  };

  beforeAll(async () => {
    cluster = await startClassCluster();
    client = adminClient(cluster);
    for (const stage of Object.keys(STAGES) as Stage[]) {
      const namespace = `${stage}-alone`;
      const crm = await prepare(stage, namespace);
      await act(namespace, STAGES[stage].to);
      if (STAGES[stage].to) await isSettled(namespace);
      else await becomes(namespace, stage);
      await crm.waitUntilIdle();
      wanted.set(stage, await snapshotNamespace(client, namespace));
      undisturbed.set(stage, [...crm.transport.writes]);
      await crm.close();
    }
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  describe("as long as a fault lasts", () => {
    test.concurrent.each(LASTING)("$stage: $call meets $fault: told, and mended with it", async (row) => {
      const { stage, fault, id, tells } = row;
      const namespace = `lasting-${stage}-${id}`;
      const crm = await prepare(stage, namespace);
      crm.transport.injectFault(hits(row), FAULTS[fault]);
      await act(namespace, STAGES[stage].to);
      await eventually(() => crm.transport.hits >= 1, { what: "the fault to be met" });
      const told = tells ? TOLD[fault] : undefined;
      if (told) {
        await eventually(async () => {
          const { status } = await classes().get({ namespace, name: "order" });
          if (status?.reason !== told.reason) throw new Error(`${status?.phase} ${status?.reason}: ${status?.message}`);
        });
        await eventually(async () => (await warned(namespace, told.reason)) === told.warns);
      }
      crm.transport.clearFault();
      await becomes(namespace, stage);
      await quiet(crm, namespace);
      await crm.close();
    });
  });

  describe("a fault that passes", () => {
    test.concurrent.each(PASSING)(
      "$stage: $call meets $fault once: nothing is written that is not always",
      async (row) => {
        const { stage, fault, id } = row;
        const namespace = `passing-${stage}-${id}`;
        const crm = await prepare(stage, namespace);
        crm.transport.injectFault(hits(row), FAULTS[fault], 1);
        await act(namespace, STAGES[stage].to);
        await eventually(() => crm.transport.hits === 1, { what: "the fault to be met" });
        await becomes(namespace, stage);
        await crm.waitUntilIdle();
        const usual = undisturbed.get(stage) ?? [];
        const { writes } = crm.transport;
        // An event that is told again is counted; what the cache does not show yet may be written again, and changes nothing.
        const unusual = writes.filter((write) => !usual.includes(write) && !write.startsWith("PATCH events/"));
        expect(unusual).toEqual([]);
        // One to tell of the fault, one that tells that it is over, and one more where the telling itself fails.
        expect(writes.filter((write) => write === STATUS).length).toBeLessThanOrEqual(3);
        await crm.close();
      },
    );
  });
});

function hits({ call }: Target): (call: Call) => boolean {
  return ({ method, target }) => `${method} ${target}` === call;
}

/** Neither another look nor new watches lead to a write. */
async function quiet(crm: FaultInjectingManager, namespace: string): Promise<void> {
  await crm.waitUntilIdle();
  crm.transport.resetRecords();
  for (let round = 0; round < 3; round += 1) {
    crm.transport.cutWatches();
    await crm.reconcileOnce(namespace, "order");
  }
  if (crm.transport.writes.length > 0) throw new Error(`not quiet: ${crm.transport.writes.join(", ")}`);
}
