import { seededRandom } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventHeap } from "./event-heap.ts";
import { LatencyHistogram } from "./latency-histogram.ts";
import { Plant } from "./plant.ts";
import { simulate, type Autoscaler } from "./simulate.ts";
import { demandOf, workloadOf, type LoadCurve, type Workload } from "./workload.ts";

const MINUTE_MS = 60_000;

function constantLoad(perMinute: number, minutes: number, more: Partial<LoadCurve> = {}): LoadCurve {
  const counts = Array.from<number>({ length: minutes }).fill(perMinute);
  return { name: "constant", intervalMs: MINUTE_MS, counts, durationP50Ms: 500, durationP99Ms: 500, ...more };
}

function fixed(replicas: number): Autoscaler {
  return { intervalMs: 15_000, historyMs: 60_000, decide: () => replicas };
}

/** A workload with given arrivals, all with the same service time. */
function scripted(arrivalsMs: readonly number[], serviceMs: number, more: Partial<Workload> = {}): Workload {
  return {
    name: "scripted",
    horizonMs: 10 * MINUTE_MS,
    arrivalsMs: Float64Array.from(arrivalsMs),
    servicesMs: Float64Array.from(arrivalsMs, () => serviceMs),
    concurrency: 1,
    latencyTargetMs: 1000,
    minReplicas: 1,
    maxReplicas: 10,
    ...more,
  };
}

describe("event heap", () => {
  test("returns times in ascending order", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 300 }), (times) => {
        const heap = new EventHeap();
        for (const time of times) heap.push(time);
        const popped = times.map(() => {
          const { next } = heap;
          heap.pop();
          return next;
        });
        expect(popped).toEqual(times.toSorted((a, b) => a - b));
        expect(heap.next).toBe(Number.POSITIVE_INFINITY);
      }),
    );
  });
});

describe("latency histogram", () => {
  test("returns percentiles within a tenth", () => {
    const histogram = new LatencyHistogram();
    for (let latency = 1; latency <= 1000; latency += 1) histogram.add(latency);
    const p95 = histogram.quantile(0.95) ?? Number.NaN;
    expect(p95).toBeGreaterThanOrEqual(950);
    expect(p95).toBeLessThan(950 * 1.1);
  });

  test("returns the percentiles since an earlier copy, and none without requests", () => {
    const histogram = new LatencyHistogram();
    histogram.add(5000);
    const earlier = histogram.copy();
    expect(histogram.since(earlier).quantile(0.5)).toBeUndefined();
    histogram.add(10);
    expect(histogram.since(earlier).quantile(0.99)).toBeLessThan(12);
  });
});

describe("plant", () => {
  test("serves requests in order of arrival, one at a time per replica", () => {
    const plant = new Plant(scripted([0, 0, 0], 600), seededRandom(1), 1);
    plant.advance(599);
    expect(plant.scrape()).toMatchObject({ started: 1, inService: 1, queueLength: 2, slow: 0 });
    plant.advance(1799);
    // The second waited 600 ms and took 600 ms; the third waited 1,200 ms.
    expect(plant.scrape()).toMatchObject({ started: 3, inService: 1, queueLength: 0, slow: 2, busyMs: 1799 });
  });

  test("starts a replica with a delay, and a removed replica finishes its request", () => {
    const plant = new Plant(scripted([0, 1], 30_000), seededRandom(1), 1);
    plant.scaleTo(2);
    expect(plant.scrape()).toMatchObject({ ready: 1, starting: 1 });
    plant.advance(29_000);
    expect(plant.scrape()).toMatchObject({ ready: 2, starting: 0, inService: 2 });
    plant.scaleTo(1);
    expect(plant.scrape()).toMatchObject({ ready: 1, inService: 2 });
    expect(plant.replicas).toBe(1);
  });

  test("cancels starting replicas first", () => {
    const plant = new Plant(scripted([], 1), seededRandom(1), 2);
    plant.scaleTo(5);
    plant.scaleTo(3);
    expect(plant.scrape()).toMatchObject({ ready: 2, starting: 1 });
  });

  test("fails requests that waited a minute, and those that wait at the end", () => {
    const workload = scripted([0, 1, 2], 70_000);
    const plant = new Plant(workload, seededRandom(1), 1);
    plant.advance(80_000);
    expect(plant.scrape()).toMatchObject({ started: 1, failed: 2, slow: 3, queueLength: 0 });
    const ended = new Plant(scripted([0, 1], 70_000), seededRandom(1), 1);
    ended.advance(10_000);
    ended.end();
    expect(ended.scrape()).toMatchObject({ started: 1, failed: 1 });
  });

  test("agrees with the mean waiting time of an M/M/1 queue", () => {
    const random = seededRandom(7);
    const rate = 0.8 / 1000;
    let at = 0;
    const arrivals = Array.from({ length: 60_000 }, () => (at += -Math.log(1 - random.next()) / rate));
    const workload: Workload = {
      ...scripted(arrivals, 0, { horizonMs: at + 1, latencyTargetMs: 1e9 }),
      servicesMs: Float64Array.from(arrivals, () => -Math.log(1 - random.next()) * 1000),
    };
    const plant = new Plant(workload, seededRandom(1), 1);
    // By Little's law the mean number in the system is load / (1 - load) = 4.
    let inSystem = 0;
    const steps = 40_000;
    for (let step = 1; step <= steps; step += 1) {
      plant.advance((step * at) / steps);
      const { inService, queueLength } = plant.scrape();
      inSystem += (inService + queueLength) / steps;
    }
    expect(inSystem).toBeGreaterThan(3.5);
    expect(inSystem).toBeLessThan(4.5);
  });
});

describe("workload", () => {
  test("has the requests of the curve, in order, with its durations", () => {
    const workload = workloadOf(constantLoad(600, 10, { durationP99Ms: 2000 }), seededRandom(1));
    expect(workload.arrivalsMs).toHaveLength(6000);
    expect(workload.arrivalsMs).toEqual(workload.arrivalsMs.toSorted());
    const services = workload.servicesMs.toSorted();
    expect(services[3000]).toBeGreaterThan(450);
    expect(services[3000]).toBeLessThan(550);
    expect(services[5940]).toBeGreaterThan(1700);
    expect(services[5940]).toBeLessThan(2300);
  });

  test("limits the replicas of long requests by serving several at the same time", () => {
    const { concurrency } = workloadOf(
      constantLoad(60, 60, { durationP50Ms: 300_000, durationP99Ms: 300_000 }),
      seededRandom(1),
    );
    expect(concurrency).toBe(8);
  });

  test("needs replicas for the requests in service", () => {
    const workload = workloadOf(constantLoad(570, 10), seededRandom(1));
    // 9.5 requests per second of half a second each.
    expect(demandOf(workload, MINUTE_MS, 0)[5]).toBe(5);
    expect(demandOf(workload, MINUTE_MS, 1)[5]).toBe(7);
  });
});

describe("simulation", () => {
  const workload = workloadOf(constantLoad(600, 30), seededRandom(3));

  test("is the same for the same random numbers", () => {
    const run = (): object => simulate(workload, fixed(6), { random: seededRandom(5) });
    expect(run()).toEqual(run());
  });

  test("counts violated minutes and replica hours", () => {
    const enough = simulate(workload, fixed(10), { random: seededRandom(5), startReplicas: 10 });
    expect(enough).toMatchObject({ violatedMinutes: 0, changesPerHour: 0, underProvisionedTime: 0 });
    expect(enough.replicaHours).toBeCloseTo(5, 6);
    const tooFew = simulate(workload, fixed(3), { random: seededRandom(5), startReplicas: 3 });
    expect(tooFew.violatedMinutes).toBeGreaterThan(25);
    expect(tooFew.underProvisionedTime).toBe(1);
  });

  test("shows an autoscaler only scrapes that have arrived", () => {
    const seen: number[] = [];
    const watching: Autoscaler = {
      ...fixed(6),
      decide: ({ nowMs, scrapes }) => {
        seen.push(nowMs - (scrapes.at(-1)?.atMs ?? Number.NaN));
        expect(scrapes.length).toBeLessThanOrEqual(6);
        return 6;
      },
    };
    simulate(workload, watching, { random: seededRandom(5) });
    expect(seen.slice(2).every((age) => age === 30_000)).toBe(true);
  });

  test("counts changes of direction", () => {
    let replicas = 5;
    const flapping: Autoscaler = { ...fixed(5), intervalMs: MINUTE_MS, decide: () => (replicas = 11 - replicas) };
    const { changesPerHour, directionChangesPerHour } = simulate(workload, flapping, { random: seededRandom(5) });
    expect(changesPerHour).toBe(60);
    expect(directionChangesPerHour).toBe(58);
  });
});
