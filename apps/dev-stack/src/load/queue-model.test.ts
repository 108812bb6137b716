import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { erlangC, serveDemand, type Demand } from "./queue-model.ts";

const demand = fc.record<Demand>({
  requestsPerSecond: fc.double({ min: 0, max: 1000, noNaN: true }),
  replicas: fc.integer({ min: 0, max: 50 }),
  capacityPerReplica: fc.double({ min: 1, max: 200, noNaN: true }),
  seconds: fc.constantFrom(1, 5, 15),
});
const waiting = fc.double({ min: 0, max: 500, noNaN: true });

describe("serveDemand", () => {
  test("loses no request", () => {
    fc.assert(
      fc.property(demand, waiting, (one, before) => {
        const { completed, failed, backlog } = serveDemand(one, before);
        expect(completed + failed + backlog).toBeCloseTo(before + one.requestsPerSecond * one.seconds, 6);
        expect(Math.min(completed, failed, backlog)).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test("latencies are a distribution", () => {
    fc.assert(
      fc.property(demand, waiting, fc.double({ min: 0, max: 5, noNaN: true }), (one, before, seconds) => {
        const { shareWithin } = serveDemand(one, before);
        expect(shareWithin(seconds)).toBeGreaterThanOrEqual(-1e-9);
        expect(shareWithin(seconds)).toBeLessThanOrEqual(1 + 1e-9);
        expect(shareWithin(seconds + 0.1)).toBeGreaterThanOrEqual(shareWithin(seconds) - 1e-9);
      }),
    );
  });

  test("more replicas never make it slower", () => {
    fc.assert(
      fc.property(
        demand.filter(({ replicas }) => replicas > 0),
        (one) => {
          const more = serveDemand({ ...one, replicas: one.replicas + 1 }, 0);
          expect(more.meanSeconds).toBeLessThanOrEqual(serveDemand(one, 0).meanSeconds + 1e-6);
        },
      ),
    );
  });

  test("fails everything without a replica, and what would wait too long", () => {
    const overload = { requestsPerSecond: 1000, replicas: 1, capacityPerReplica: 10, seconds: 5 };
    expect(serveDemand({ ...overload, replicas: 0 }, 3)).toMatchObject({ completed: 0, failed: 5003, backlog: 0 });
    expect(serveDemand(overload, 0)).toMatchObject({ completed: 50, backlog: 100, failed: 4850, utilization: 1 });
  });
});

test("erlangC has the values of published tables", () => {
  expect(erlangC(0.5, 1)).toBeCloseTo(0.5, 9);
  expect(erlangC(2, 3)).toBeCloseTo(4 / 9, 9);
  expect(erlangC(8, 10)).toBeCloseTo(0.4092, 4);
});
