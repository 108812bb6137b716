import { classRuntime } from "@oaas/contracts/crd";
import { VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { measureAvailability, readinessSignal } from "./availability.ts";
import { capacityOf, sumDemand } from "./capacity.ts";
import { ReadinessWindow } from "./readiness-window.ts";

const HOUR = 3_600_000;
const nodes = (...ready: boolean[]) =>
  ready.map((isReady) => ({ status: { conditions: [{ type: "Ready", status: isReady ? "True" : "False" }] } }));
const observed = (ratio: number | undefined, observedMs: number) => ({ ratio, observedMs, windowMs: HOUR, samples: 1 });

describe("availability", () => {
  test.each([
    {
      case: "no nodes and no class runtimes",
      nodeFacts: undefined,
      readiness: observed(undefined, 0),
      want: undefined,
    },
    { case: "a cluster without nodes", nodeFacts: nodes(), readiness: observed(undefined, 0), want: undefined },
    { case: "nodes only", nodeFacts: nodes(true, true, false, true), readiness: observed(undefined, 0), want: 0.75 },
    {
      case: "a class over the whole window has the maximum weight",
      nodeFacts: nodes(true),
      readiness: observed(0.5, HOUR),
      want: 0.75,
    },
    {
      case: "a class over a tenth of the window has a tenth of the weight",
      nodeFacts: nodes(true),
      readiness: observed(0, HOUR / 10),
      want: 0.95,
    },
    {
      case: "many classes have no more than the maximum weight",
      nodeFacts: nodes(true),
      readiness: observed(0, 90 * HOUR),
      want: 0.5,
    },
    { case: "no permission to read nodes", nodeFacts: undefined, readiness: observed(0.9, HOUR), want: 0.9 },
  ])("$case", ({ nodeFacts, readiness, want }) => {
    const { value, mocked } = measureAvailability(nodeFacts, readiness, undefined);
    if (want === undefined) expect(value).toBeUndefined();
    else expect(value).toBeCloseTo(want, 9);
    expect(mocked).toBe(false);
  });

  test("a mock replaces the measurement", () => {
    expect(measureAvailability(nodes(false), observed(0, HOUR), 0.99)).toMatchObject({
      value: 0.99,
      mocked: true,
      nodeRatio: 0,
    });
  });
});

describe("readiness signal of a class", () => {
  test.each([
    { phase: "available", reason: undefined, want: "ready" },
    { phase: "degraded", reason: "NodeLost", want: "not-ready" },
    { phase: "degraded", reason: "ImagePull", want: undefined },
    { phase: "progressing", reason: undefined, want: undefined },
  ] as const)("$phase $reason", ({ phase, reason, want }) => {
    const object = classRuntime.parse({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name: "a", generation: 1 },
      spec: { state_spec: {} },
      status: { phase, observedGeneration: 1, ...(reason === undefined ? {} : { reason }) },
    });
    expect(readinessSignal(object)).toBe(want);
  });
});

describe("readiness window", () => {
  test("weights by time, not by the number of changes", async () => {
    const time = new VirtualTime();
    const window = new ReadinessWindow(time, HOUR);
    window.set(1, 1);
    await time.advance(HOUR / 4);
    for (let n = 0; n < 100; n += 1) window.set(n % 2, 1);
    window.set(0, 1);
    await time.advance(HOUR / 4);
    expect(window.read().ratio).toBeCloseTo(0.5, 3);
    expect(window.read().observedMs).toBe(HOUR / 2);
  });

  test("drops time before the window", async () => {
    const time = new VirtualTime();
    const window = new ReadinessWindow(time, HOUR);
    window.set(0, 2);
    await time.advance(HOUR);
    expect(window.read().ratio).toBe(0);
    window.set(2, 2);
    await time.advance(5 * HOUR);
    expect(window.read().ratio).toBe(1);
    expect(window.read().observedMs).toBeLessThanOrEqual(2 * HOUR * 1.02);
  });

  test("has no ratio without class runtimes", async () => {
    const time = new VirtualTime();
    const window = new ReadinessWindow(time, HOUR);
    await time.advance(HOUR);
    expect(window.read()).toMatchObject({ ratio: undefined, observedMs: 0 });
  });
});

describe("capacity", () => {
  test("sums schedulable nodes and pod requests as the scheduler does", () => {
    const [ready] = nodes(true);
    const allocatable = { cpu: "3920m", memory: "1Gi", pods: "110" };
    const schedulable = { status: { ...ready?.status, allocatable } };
    const demand = sumDemand([
      pod([{ cpu: "100m", memory: "64Mi" }, { cpu: "0.4" }], [{ cpu: "2" }]),
      pod([{ cpu: "100m" }], [{ cpu: "50m", restartPolicy: "Always" }]),
      { ...pod([{ cpu: "9" }]), status: { phase: "Succeeded" } },
      { spec: { containers: [{ resources: { requests: { cpu: "9" } } }] } },
    ]);
    expect(demand).toMatchObject({ cpuMillicores: 2150n, memoryBytes: 64n * 2n ** 20n, pods: 2 });
    const cordoned = { ...schedulable, spec: { unschedulable: true } };
    expect(capacityOf([schedulable, cordoned, ...nodes(false)], demand)).toEqual({
      allocatableCpuMillicores: 3920n,
      allocatableMemoryBytes: 2n ** 30n,
      allocatablePods: 110,
      requestedCpuMillicores: 2150n,
      requestedMemoryBytes: 64n * 2n ** 20n,
      runningPods: 2,
    });
  });
});

type Request = Readonly<Record<string, string>>;

function pod(containers: readonly Request[], init: readonly Request[] = []) {
  const container = ({ restartPolicy, ...requests }: Request) => ({
    resources: { requests },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  return {
    spec: { nodeName: "n", containers: containers.map(container), initContainers: init.map(container) },
    status: { phase: "Running" },
  };
}
