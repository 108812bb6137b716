import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Recommendation } from "../recommendation.ts";
import type { ComponentSamples, Series } from "../samples.ts";
import { ResourceModel, type MemorySettings } from "./resource-model.ts";
import { DAY_MS, MIN_CPU_MILLICORES, MIN_MEMORY_BYTES } from "./settings.ts";

const START_MS = Date.UTC(2026, 10, 1);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const GIB = 1024 ** 3;

const series = (values: readonly number[], fromMs = START_MS, stepMs = MINUTE_MS): Series =>
  values.map((value, index) => ({ atMs: fromMs + index * stepMs, value }));

const repeat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

const OPTIONS = { component: "resize", validForMs: 300_000, queries: { cpu: "CPU", memory: "MEMORY" } };

const recommendBoth = (
  model: ResourceModel,
  options: object = {},
): { cpu?: Recommendation; memory?: Recommendation } => {
  const found = model.recommend({ ...OPTIONS, ...options });
  return Object.fromEntries(found.map((recommendation) => [recommendation.dimension, recommendation]));
};

const observing = (pods: ComponentSamples["pods"], memory?: MemorySettings): ResourceModel => {
  const model = new ResourceModel();
  model.observe(pods, memory);
  return model;
};

/** A day of steady usage at one sample per minute. */
const aDay = (millicores: number, bytes: number, fromMs = START_MS): ComponentSamples["pods"] => ({
  a: { cpuMillicores: series(repeat(millicores, 1441), fromMs), memoryBytes: series(repeat(bytes, 1441), fromMs) },
});

const anyUsage = fc.record({
  pod: fc.constantFrom("a", "b", "c"),
  atMs: fc.integer({ min: START_MS, max: START_MS + 2 * DAY_MS }),
  cpu: fc.double({ min: -10, max: 64_000 }),
  memory: fc.double({ min: -10, max: 100 * GIB }),
});

describe("a resource model", () => {
  it("recommends the 90th percentile with a margin of 15 % and bounds around it", () => {
    const values = Array.from({ length: 100 }, (_, index) => (index + 1) * 10);
    const { cpu } = recommendBoth(observing({ a: { cpuMillicores: series(values) } }), { current: { cpu: 500 } });
    expect(cpu).toMatchObject({
      component: "resize",
      dimension: "cpu",
      current: 500,
      observedAtMs: START_MS + 99 * MINUTE_MS,
      validUntilMs: START_MS + 99 * MINUTE_MS + 300_000,
      basis: { window: "99m", query: "CPU", values: { samples: 100 } },
    });
    expect(cpu?.target).toBeGreaterThanOrEqual(900 * 1.15);
    expect(cpu?.target).toBeLessThanOrEqual(900 * 1.15 * 1.05 + 20);
    expect(cpu?.lowerBound).toBeLessThan(cpu?.target ?? 0);
    expect(cpu?.basis.values["p50_millicores"]).toBeLessThan(cpu?.basis.values["p90_millicores"] ?? 0);
    expect(cpu?.confidence).toBeCloseTo(99 / 1440, 3);
  });

  it("recommends nothing for a dimension without samples", () => {
    expect(new ResourceModel().recommend(OPTIONS)).toEqual([]);
    expect(Object.keys(recommendBoth(observing({ a: { memoryBytes: series([GIB]) } })))).toEqual(["memory"]);
    expect(Object.keys(recommendBoth(observing({ a: { cpuMillicores: series([100]) } })))).toEqual(["cpu"]);
  });

  it("ignores NaN, infinite and negative values, and a zero working set", () => {
    const bad = [Number.NaN, Infinity, -Infinity, -1];
    expect(
      observing({ a: { cpuMillicores: series(bad), memoryBytes: series([...bad, 0]) } }).recommend(OPTIONS),
    ).toEqual([]);
    const started = observing({ a: { memoryBytes: series([0, GIB]) } });
    expect(recommendBoth(started).memory?.target).toBeGreaterThan(GIB);
  });

  it("names the minimum as the floor when it binds", () => {
    const { cpu, memory } = recommendBoth(observing(aDay(1, 1e7)));
    expect(cpu).toMatchObject({
      target: MIN_CPU_MILLICORES,
      lowerBound: MIN_CPU_MILLICORES,
      basis: { floor: "min_cpu" },
    });
    expect(memory).toMatchObject({ target: MIN_MEMORY_BYTES, basis: { floor: "min_memory" } });
    expect(recommendBoth(observing(aDay(1000, GIB))).cpu?.basis).not.toHaveProperty("floor");
  });

  it("narrows the bounds with the length of the history", () => {
    const model = new ResourceModel();
    let width = Infinity;
    for (let hour = 0; hour < 72; hour += 6) {
      model.observe({ a: { cpuMillicores: series(repeat(500, 360), START_MS + hour * HOUR_MS) } });
      const { cpu } = recommendBoth(model);
      const now = (cpu?.upperBound ?? 0) - (cpu?.lowerBound ?? 0);
      expect(now).toBeLessThan(width);
      width = now;
    }
    expect(recommendBoth(model).cpu?.confidence).toBe(1);
  });

  it("keeps lower bound, target and upper bound in order, and all within the user's limits", () => {
    const anyLimit = fc.option(fc.integer({ min: 1, max: 8000 }), { nil: undefined });
    fc.assert(
      fc.property(fc.array(anyUsage, { minLength: 1, maxLength: 40 }), anyLimit, (usages, limit) => {
        const model = new ResourceModel({ cpu: 700, memory: GIB });
        for (const { pod, atMs, cpu, memory } of usages) {
          const at = (value: number): Series => [{ atMs, value }];
          model.observe({ [pod]: { cpuMillicores: at(cpu), memoryBytes: at(memory) } });
        }
        const limits = limit === undefined ? {} : { limits: { cpu: limit, memory: limit * 1e6 } };
        for (const recommendation of model.recommend({ ...OPTIONS, ...limits })) {
          const { lowerBound, target, upperBound, dimension, confidence } = recommendation;
          expect(lowerBound).toBeLessThanOrEqual(target);
          expect(target).toBeLessThanOrEqual(upperBound);
          expect([lowerBound, target, upperBound].every(Number.isSafeInteger)).toBe(true);
          expect(upperBound).toBeLessThanOrEqual(limits.limits?.[dimension === "cpu" ? "cpu" : "memory"] ?? 1e12);
          expect(confidence).toBeGreaterThanOrEqual(0);
          expect(confidence).toBeLessThanOrEqual(1);
        }
      }),
    );
  });

  it("counts a sample once when ranges overlap", () => {
    const values = Array.from({ length: 60 }, (_, index) => 100 + index * 7);
    const once = observing({ a: { cpuMillicores: series(values), memoryBytes: series(values.map((v) => v * 1e6)) } });
    const overlapping = new ResourceModel();
    for (let end = 10; end <= 60; end += 5) {
      const from = Math.max(end - 20, 0);
      const part = values.slice(from, end);
      overlapping.observe({
        a: {
          cpuMillicores: series(part, START_MS + from * MINUTE_MS),
          memoryBytes: series(
            part.map((v) => v * 1e6),
            START_MS + from * MINUTE_MS,
          ),
        },
      });
    }
    expect(overlapping.recommend(OPTIONS)).toEqual(once.recommend(OPTIONS));
  });

  it("continues over a gap without losing what it learnt", () => {
    const model = observing(aDay(800, 2 * GIB));
    const before = recommendBoth(model);
    model.observe({ a: { cpuMillicores: series([800], START_MS + 3 * DAY_MS) } });
    expect(recommendBoth(model).cpu?.target).toBe(before.cpu?.target);
    expect(recommendBoth(model).memory?.target).toBe(before.memory?.target);
  });
});

describe("the least memory", () => {
  const MIB = 1024 ** 2;
  const small = { a: { cpuMillicores: series([10, 10]), memoryBytes: series([20 * MIB, 20 * MIB]) } };
  const recommendMemory = (minMemoryBytes: number) => {
    const model = new ResourceModel({}, { minMemoryBytes });
    model.observe(small);
    return recommendBoth(model).memory;
  };

  it("is a setting: a small function gets what it uses", () => {
    const memory = recommendMemory(16 * MIB);
    expect(memory?.target).toBeGreaterThan(20 * MIB);
    expect(memory?.target).toBeLessThan(2 * 20 * MIB);
    expect(memory?.basis.floor).toBeUndefined();
  });

  it("never lowers the recommendation below it, and is named when it decides", () => {
    fc.assert(
      fc.property(fc.integer({ min: MIB, max: 4 * GIB }), (minMemoryBytes) => {
        const { target = 0, lowerBound = 0, upperBound = 0, basis } = recommendMemory(minMemoryBytes) ?? {};
        expect(Math.min(target, lowerBound, upperBound)).toBeGreaterThanOrEqual(minMemoryBytes);
        expect(basis?.floor === "min_memory").toBe(target === minMemoryBytes);
      }),
    );
  });
});

describe("a checkpoint", () => {
  const pods = Object.fromEntries(
    Array.from({ length: 40 }, (_, index) => [
      `a-rather-long-name-of-a-class-and-a-function-${index}`,
      {
        cpuMillicores: series([100 * index, 80 * index, 120 * index]),
        memoryBytes: series([1e8 * (index + 1)]),
        oomKills: series([index % 2]),
      },
    ]),
  );

  it("restores the same recommendations within 12 KiB", () => {
    const model = observing(pods, { requestBytes: GIB });
    const saved = JSON.stringify(model.save());
    expect(saved.length).toBeLessThan(12 * 1024);
    expect(ResourceModel.restore(JSON.parse(saved)).recommend(OPTIONS)).toEqual(model.recommend(OPTIONS));
  });

  it("does not count samples again that were saved", () => {
    const saved = observing(pods, { requestBytes: GIB }).save();
    const restored = ResourceModel.restore(JSON.parse(JSON.stringify(saved)));
    restored.observe(pods, { requestBytes: GIB });
    expect(restored.save().history).toEqual(saved.history);
    expect(restored.save().memory).toEqual(saved.memory);
  });

  it("makes the same decisions after a restart at any time", () => {
    fc.assert(
      fc.property(fc.array(anyUsage, { minLength: 2, maxLength: 30 }), fc.nat({ max: 29 }), (usages, restartAt) => {
        const ordered = usages.toSorted((a, b) => a.atMs - b.atMs);
        const steady = new ResourceModel();
        let restarted = new ResourceModel();
        for (const [index, { pod, atMs, cpu, memory }] of ordered.entries()) {
          const samples = { [pod]: { cpuMillicores: [{ atMs, value: cpu }], memoryBytes: [{ atMs, value: memory }] } };
          steady.observe(samples);
          restarted.observe(samples);
          if (index === restartAt) restarted = ResourceModel.restore(JSON.parse(JSON.stringify(restarted.save())));
        }
        expect(restarted.recommend(OPTIONS)).toEqual(steady.recommend(OPTIONS));
      }),
    );
  });

  it.each([undefined, null, 7, [], {}, { version: 2 }, "text"])("that is not one is a loss of history: %j", (saved) => {
    const model = ResourceModel.restore(saved, { cpu: 900, memory: 3 * GIB });
    expect(model.recommend(OPTIONS)).toEqual([]);
    model.observe({ a: { cpuMillicores: series([100]), memoryBytes: series([GIB]) } });
    expect(recommendBoth(model).cpu).toMatchObject({ target: 900, basis: { floor: "last_target" } });
    expect(recommendBoth(model).memory).toMatchObject({ target: 3 * GIB, basis: { floor: "last_target" } });
  });

  it("with a number that is not finite is a loss of history", () => {
    const saved = observing(aDay(100, GIB)).save();
    const broken = { ...saved, cpu: { ...saved.cpu, totalWeight: Number.NaN } };
    expect(ResourceModel.restore(broken, { cpu: 900 }).recommend(OPTIONS)).toEqual([]);
  });
});

describe("a loss of history", () => {
  it("never lowers a target and widens the bounds until a day was measured", () => {
    const before = recommendBoth(observing(aDay(1000, 4 * GIB))).cpu;
    const model = ResourceModel.restore(undefined, { cpu: before?.target ?? 0 });
    for (let hour = 0; hour < 24; hour++) {
      model.observe({ a: { cpuMillicores: series(repeat(50, 60), START_MS + hour * HOUR_MS) } });
      const { cpu } = recommendBoth(model);
      expect(cpu).toMatchObject({ target: before?.target, basis: { floor: "last_target" } });
      expect(cpu?.lowerBound).toBeLessThan(before?.lowerBound ?? 0);
      expect(cpu?.confidence).toBeLessThan(1);
    }
    model.observe({ a: { cpuMillicores: series(repeat(50, 60), START_MS + DAY_MS) } });
    expect(recommendBoth(model).cpu?.target).toBeLessThan(100);
  });

  it("happens after eight days without a sample, and keeps the last target", () => {
    const model = observing(aDay(1000, 4 * GIB));
    const before = recommendBoth(model);
    model.observe(aDay(10, 1e8, START_MS + 9 * DAY_MS));
    const first = {
      a: { cpuMillicores: series([10], START_MS + 9 * DAY_MS), memoryBytes: series([1e8], START_MS + 9 * DAY_MS) },
    };
    const lost = observing(aDay(1000, 4 * GIB));
    lost.observe(first);
    expect(recommendBoth(lost).cpu).toMatchObject({
      target: before.cpu?.target,
      confidence: 0,
      basis: { floor: "last_target" },
    });
    expect(recommendBoth(lost).memory?.target).toBe(before.memory?.target);
    expect(recommendBoth(model).cpu?.target).toBe(MIN_CPU_MILLICORES);
  });

  it("raises a target when usage is above the last one", () => {
    const model = ResourceModel.restore(undefined, { cpu: 100 });
    model.observe({ a: { cpuMillicores: series([900]) } });
    expect(recommendBoth(model).cpu?.target).toBeGreaterThan(900);
    expect(recommendBoth(model).cpu?.basis).not.toHaveProperty("floor");
  });
});

describe("OOM kills", () => {
  const memoryTarget = (model: ResourceModel, limit?: number): number =>
    recommendBoth(model, limit === undefined ? {} : { limits: { memory: limit } }).memory?.target ?? 0;

  it("raise the target by a fifth, and at least 100 MiB, above the request", () => {
    const model = observing({ a: { memoryBytes: series([GIB]), oomKills: series([1]) } }, { requestBytes: 2 * GIB });
    expect(memoryTarget(model)).toBeGreaterThan(2 * GIB * 1.2 * 1.15);
    expect(recommendBoth(model).memory?.basis.values["oom_kills"]).toBe(1);
    const small = observing({ a: { oomKills: series([1]) } }, { requestBytes: 300 * 1024 ** 2 });
    expect(memoryTarget(small)).toBeGreaterThan(400 * 1024 ** 2);
  });

  it("count once while they are in the window of the query, whatever the request is by then", () => {
    const model = new ResourceModel();
    const kills = series([0, 1, 1.02, 0.98, 1, 0, 0]);
    for (const [index, sample] of kills.entries()) {
      model.observe({ a: { oomKills: [sample] } }, { requestBytes: (index + 1) * GIB });
    }
    const once = observing({ a: { oomKills: series([1], START_MS + MINUTE_MS) } }, { requestBytes: 2 * GIB });
    expect(memoryTarget(model)).toBe(memoryTarget(once));
    expect(recommendBoth(model).memory?.basis.values["oom_kills"]).toBe(1);
  });

  it("do not add up when the request stays the same", () => {
    const model = new ResourceModel();
    model.observe({ a: { oomKills: series([1]) } }, { requestBytes: GIB });
    const first = memoryTarget(model);
    for (let kill = 2; kill < 50; kill++) {
      model.observe({ a: { oomKills: series([kill], START_MS + kill * MINUTE_MS) } }, { requestBytes: GIB });
      expect(memoryTarget(model)).toBe(first);
    }
  });

  it("are bounded by the user's limit when each target becomes the next request", () => {
    const MIB = 1024 ** 2;
    fc.assert(
      fc.property(
        fc.array(fc.record({ pod: fc.constantFrom("a", "b"), minutes: fc.integer({ min: 1, max: 2000 }) }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.integer({ min: 64, max: 65_536 }),
        fc.integer({ min: 300, max: 65_536 }),
        (kills, requestMib, limitMib) => {
          const limitBytes = limitMib * MIB;
          const model = new ResourceModel();
          let request = Math.min(requestMib * MIB, limitBytes);
          let atMs = START_MS;
          for (const [index, { pod, minutes }] of kills.entries()) {
            atMs += minutes * MINUTE_MS;
            const used = [{ atMs, value: request }];
            model.observe(
              { [pod]: { memoryBytes: used, oomKills: [{ atMs, value: index + 1 }] } },
              { requestBytes: request, limitBytes },
            );
            const target = memoryTarget(model, limitBytes);
            expect(target).toBeLessThanOrEqual(limitBytes);
            // One kill raises a target by the ratio, the margin and a bucket at most.
            expect(target).toBeLessThanOrEqual(
              Math.max(request * 1.2, request + 100 * MIB, MIN_MEMORY_BYTES) * 1.15 * 1.05 + 2e7,
            );
            request = Math.max(request, target);
          }
        },
      ),
    );
  });
});
