import { classRuntime } from "@oaas/contracts/crd";
import { VirtualTime } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { measureAvailability, witness } from "./availability.ts";
import { capacityOf, demandOf } from "./capacity.ts";
import { ReadinessWindow } from "./readiness-window.ts";

const HOUR = 3_600_000;
const nodes = (...ready: boolean[]) =>
  ready.map((is) => ({ status: { conditions: [{ type: "Ready", status: is ? "True" : "False" }] } }));
const observed = (ratio: number | undefined, observedMs: number) => ({ ratio, observedMs, windowMs: HOUR, samples: 1 });

describe("availability", () => {
  test.each([
    { why: "nothing to measure by", of: undefined, seen: observed(undefined, 0), want: undefined },
    { why: "a cluster without nodes", of: nodes(), seen: observed(undefined, 0), want: undefined },
    { why: "nodes alone", of: nodes(true, true, false, true), seen: observed(undefined, 0), want: 0.75 },
    { why: "a class over the whole window counts as much", of: nodes(true), seen: observed(0.5, HOUR), want: 0.75 },
    {
      why: "a class over a tenth of it counts a tenth of that",
      of: nodes(true),
      seen: observed(0, HOUR / 10),
      want: 0.95,
    },
    { why: "many classes count no more than half", of: nodes(true), seen: observed(0, 90 * HOUR), want: 0.5 },
    { why: "nodes that may not be read", of: undefined, seen: observed(0.9, HOUR), want: 0.9 },
  ])("$why", ({ of, seen, want }) => {
    const { value, mocked } = measureAvailability(of, seen, undefined);
    if (want === undefined) expect(value).toBeUndefined();
    else expect(value).toBeCloseTo(want, 9);
    expect(mocked).toBe(false);
  });

  test("a mock wins and says so", () => {
    expect(measureAvailability(nodes(false), observed(0, HOUR), 0.99)).toMatchObject({
      value: 0.99,
      mocked: true,
      nodeRatio: 0,
    });
  });
});

describe("what a class says of its cluster", () => {
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
    expect(witness(object)).toBe(want);
  });
});

describe("readiness over time", () => {
  test("is weighed by time, not by the number of changes", async () => {
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

  test("forgets what is older than the window", async () => {
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

  test("nobody there, nothing known", async () => {
    const time = new VirtualTime();
    const window = new ReadinessWindow(time, HOUR);
    await time.advance(HOUR);
    expect(window.read()).toMatchObject({ ratio: undefined, observedMs: 0 });
  });
});

describe("capacity", () => {
  test("ready nodes that take pods, and what pods ask for as the scheduler counts", () => {
    const [ready] = nodes(true);
    const allocatable = { cpu: "3920m", memory: "1Gi", pods: "110" };
    const offering = { status: { ...ready?.status, allocatable } };
    const demand = demandOf([
      pod([{ cpu: "100m", memory: "64Mi" }, { cpu: "0.4" }], [{ cpu: "2" }]),
      pod([{ cpu: "100m" }], [{ cpu: "50m", restartPolicy: "Always" }]),
      { ...pod([{ cpu: "9" }]), status: { phase: "Succeeded" } },
      { spec: { containers: [{ resources: { requests: { cpu: "9" } } }] } },
    ]);
    expect(demand).toEqual({ cpuMillicores: 2150n, memoryBytes: 64n * 2n ** 20n, pods: 2 });
    const cordoned = { ...offering, spec: { unschedulable: true } };
    expect(capacityOf([offering, cordoned, ...nodes(false)], demand)).toEqual({
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
  const asking = ({ restartPolicy, ...requests }: Request) => ({
    resources: { requests },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  return {
    spec: { nodeName: "n", containers: containers.map(asking), initContainers: init.map(asking) },
    status: { phase: "Running" },
  };
}
