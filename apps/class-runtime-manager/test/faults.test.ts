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

/** Changes of a class: from one desired state to another. */
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
  "no response": { do: "hang" },
  "a reset": { do: "reset" },
  "a lost response": { do: "lose-response" },
} as const satisfies Record<string, CallFault>;

type FaultName = keyof typeof FAULTS;

/**
 * The reason a class reports for a fault of its children, and whether it records a Warning. A lost response is not
 * reported.
 */
const REPORTED: Readonly<Record<FaultName, { readonly reason: string; readonly hasWarning: boolean } | undefined>> = {
  "409": { reason: "ApiUnavailable", hasWarning: false },
  "422": { reason: "ApplyInvalid", hasWarning: true },
  "403": { reason: "Forbidden", hasWarning: true },
  "429": { reason: "ApiUnavailable", hasWarning: false },
  "500": { reason: "ApiUnavailable", hasWarning: false },
  "503": { reason: "ApiUnavailable", hasWarning: false },
  "no response": { reason: "ApiUnavailable", hasWarning: false },
  "a reset": { reason: "ApiUnavailable", hasWarning: false },
  "a lost response": undefined,
};

const STATUS = "PATCH classruntimes/order/status";

interface Target {
  readonly stage: Stage;
  readonly call: string;
  /** Whether the status can report the fault. */
  readonly isReported?: boolean;
}

const TARGETS: readonly Target[] = [
  { stage: "create", call: "PATCH classruntimes/order" },
  { stage: "create", call: "PATCH services/order-fn-0", isReported: true },
  { stage: "create", call: "PATCH deployments/order-fn-1", isReported: true },
  { stage: "create", call: STATUS },
  { stage: "create", call: "POST events" },
  { stage: "prune", call: "DELETE deployments/order-fn-1" },
  { stage: "delete", call: "DELETE services/order-fn-0" },
  { stage: "delete", call: "GET services" },
  { stage: "delete", call: "PATCH classruntimes/order" },
];

const ROWS = TARGETS.flatMap((target) =>
  (Object.keys(FAULTS) as FaultName[])
    // For a read, a lost response equals a hanging call.
    .filter((fault) => !(target.call.startsWith("GET") && fault === "a lost response"))
    .map((fault, index) => ({
      ...target,
      fault,
      id: `${target.call.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}-${index}`,
    })),
);

/** A sweep runs all rows; a normal run only the most different ones. */
const isSweep = sweepSize(0, 1) === 1;
const LASTING = ROWS.filter(
  ({ fault, isReported }) =>
    isSweep || isReported || ["409", "403", "500", "no response", "a lost response"].includes(fault),
);
const PASSING = ROWS.filter(({ fault }) => isSweep || ["409", "500", "a lost response"].includes(fault));

describeOnTarget("failing API calls", {}, () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  const expected = new Map<Stage, NamespaceSnapshot>();
  const usualWrites = new Map<Stage, readonly string[]>();

  const classes = () => client.resource(CLASS_RUNTIMES);
  const changeClass = async (namespace: string, desired: DesiredClass | undefined): Promise<void> => {
    if (desired) await applyClass(client, namespace, "order", desired);
    else await classes().delete({ namespace, name: "order" });
  };
  /** Creates the class in the state before the stage, with an idle manager. */
  const prepare = async (stage: Stage, namespace: string): Promise<FaultInjectingManager> => {
    await createNamespace(client, namespace);
    const crm = await startFaultInjectingManager(cluster, namespace);
    const { from } = STAGES[stage];
    if (!from) return crm;
    await changeClass(namespace, from);
    await waitUntilObserved(namespace);
    await crm.waitUntilIdle();
    crm.transport.resetRecords();
    return crm;
  };
  const waitUntilObserved = (namespace: string): Promise<unknown> =>
    eventually(async () => {
      const { metadata, status } = await classes().get({ namespace, name: "order" });
      return status?.observedGeneration === metadata.generation;
    });
  const waitForEnd = (namespace: string, stage: Stage): Promise<unknown> =>
    eventually(
      async () => assertEqualSnapshots(await snapshotNamespace(client, namespace), expected.get(stage) ?? new Map()),
      {
        timeoutMs: 60_000,
        what: `the end of ${stage}`,
      },
    );

  const hasWarning = async (namespace: string, expected: string): Promise<boolean> => {
    const { items } = await client.resource(EVENTS).list({ namespace });
    return items.some(({ reason, type }) => reason === expected && type === "Warning");
  };

  beforeAll(async () => {
    cluster = await startClassCluster();
    client = adminClient(cluster);
    for (const stage of Object.keys(STAGES) as Stage[]) {
      const namespace = `${stage}-alone`;
      const crm = await prepare(stage, namespace);
      await changeClass(namespace, STAGES[stage].to);
      if (STAGES[stage].to) await waitUntilObserved(namespace);
      else await waitForEnd(namespace, stage);
      await crm.waitUntilIdle();
      expected.set(stage, await snapshotNamespace(client, namespace));
      usualWrites.set(stage, [...crm.transport.writes]);
      await crm.close();
    }
  });
  afterAll(async () => {
    await client.close();
    await cluster.close();
  });

  describe("lasting fault", () => {
    test.concurrent.each(LASTING)("$stage: reports $fault of $call, and recovers after it", async (row) => {
      const { stage, fault, id, isReported } = row;
      const namespace = `lasting-${stage}-${id}`;
      const crm = await prepare(stage, namespace);
      crm.transport.injectFault(hits(row), FAULTS[fault]);
      await changeClass(namespace, STAGES[stage].to);
      await eventually(() => crm.transport.hits >= 1, { what: "the fault to occur" });
      const reported = isReported ? REPORTED[fault] : undefined;
      if (reported) {
        await eventually(async () => {
          const { status } = await classes().get({ namespace, name: "order" });
          if (status?.reason !== reported.reason)
            throw new Error(`${status?.phase} ${status?.reason}: ${status?.message}`);
        });
        await eventually(async () => (await hasWarning(namespace, reported.reason)) === reported.hasWarning);
      }
      crm.transport.clearFault();
      await waitForEnd(namespace, stage);
      await assertQuiet(crm, namespace);
      await crm.close();
    });
  });

  describe("single fault", () => {
    test.concurrent.each(PASSING)("$stage: $fault of $call causes no additional kind of write", async (row) => {
      const { stage, fault, id } = row;
      const namespace = `passing-${stage}-${id}`;
      const crm = await prepare(stage, namespace);
      crm.transport.injectFault(hits(row), FAULTS[fault], 1);
      await changeClass(namespace, STAGES[stage].to);
      await eventually(() => crm.transport.hits === 1, { what: "the fault to occur" });
      await waitForEnd(namespace, stage);
      await crm.waitUntilIdle();
      const usual = usualWrites.get(stage) ?? [];
      const { writes } = crm.transport;
      // A repeated event is counted, and a write that the cache does not show yet may be repeated without effect.
      const unusual = writes.filter((write) => !usual.includes(write) && !write.startsWith("PATCH events/"));
      expect(unusual).toEqual([]);
      // One write reports the fault, one its end, and one more if the status write itself failed.
      expect(writes.filter((write) => write === STATUS).length).toBeLessThanOrEqual(3);
      await crm.close();
    });
  });
});

function hits({ call }: Target): (call: Call) => boolean {
  return ({ method, target }) => `${method} ${target}` === call;
}

/** Checks that neither a reconcile nor new watches cause a write. */
async function assertQuiet(crm: FaultInjectingManager, namespace: string): Promise<void> {
  await crm.waitUntilIdle();
  crm.transport.resetRecords();
  for (let round = 0; round < 3; round += 1) {
    crm.transport.cutWatches();
    await crm.reconcileOnce(namespace, "order");
  }
  if (crm.transport.writes.length > 0) throw new Error(`unexpected writes: ${crm.transport.writes.join(", ")}`);
}
