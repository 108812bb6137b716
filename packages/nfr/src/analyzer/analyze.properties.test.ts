import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SIGNALS, type ComponentSamples, type Series, type Signal } from "../samples.ts";
import type { AnalysisInput, AnalyzerState, ComponentScale, RequirementTargets } from "./analysis.ts";
import { analyze } from "./analyze.ts";
import { DEFAULT_ANALYZER_SETTINGS } from "./settings.ts";
import { inputOf, NOW, windowOf } from "./testing/samples.ts";

const STEPS = 20;

const rate = fc.double({ min: 0, max: 5000, noNaN: true });
const perStep = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: STEPS, maxLength: STEPS });
const seriesOf = (values: readonly number[], endMs = NOW): Series => windowOf((index) => values[index] ?? 0, endMs);

const requirements: fc.Arbitrary<RequirementTargets> = fc.record(
  {
    minThroughputRps: fc.integer({ min: 1, max: 10_000 }),
    maxLatencyMs: fc.integer({ min: 1, max: 5000 }),
    availability: fc.double({ min: 0, max: 1, noNaN: true }),
    maxErrorRate: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: [] },
);

const scale: fc.Arbitrary<ComponentScale> = fc.record(
  {
    current: fc.integer({ min: 0, max: 50 }),
    min: fc.integer({ min: 0, max: 10 }),
    max: fc.integer({ min: 10, max: 100 }),
    canScaleToZero: fc.boolean(),
    cpuRequestMillicores: fc.integer({ min: 10, max: 8000 }),
  },
  { requiredKeys: ["current"] },
);

const point = fc.record(
  {
    range: fc.integer({ min: -20, max: 120 }),
    count: fc.integer({ min: 1, max: 60 }),
    latencyMs: fc.double({ min: 0.1, max: 10_000, noNaN: true }),
    cpuMillicores: fc.double({ min: 0.1, max: 8000, noNaN: true }),
    lastMs: fc.integer({ min: NOW - 7 * 86_400_000, max: NOW }),
  },
  { requiredKeys: ["range", "count", "lastMs"] },
);

const state: fc.Arbitrary<AnalyzerState> = fc
  .record({
    points: fc.uniqueArray(point, { maxLength: 8, selector: ({ range }) => range }),
    target: fc.option(fc.integer({ min: 0, max: 60 }), { nil: undefined }),
  })
  .map(({ points, target }) => ({
    verdicts: {},
    curve: {
      percentile: 99,
      learntUntilMs: NOW - 60_000,
      points: points.toSorted((a, b) => a.range - b.range),
    },
    requests: {},
    ...(target === undefined ? {} : { target }),
  }));

const signals = fc.record(
  {
    requests_per_second: perStep(rate),
    latency_p99_ms: perStep(fc.double({ min: 0, max: 10_000, noNaN: true })),
    cpu_millicores: perStep(fc.double({ min: 0, max: 20_000, noNaN: true })),
    queue_length: perStep(fc.double({ min: 0, max: 1000, noNaN: true })),
    errors_per_second: perStep(rate),
    slow_requests_per_second: perStep(rate),
    ready_replicas: perStep(fc.integer({ min: 0, max: 50 })),
  },
  { requiredKeys: ["requests_per_second"] },
);

type Values = Partial<Record<Signal, readonly number[]>>;

const samplesOf = (values: Values, endMs = NOW): ComponentSamples => ({
  signals: Object.fromEntries(Object.entries(values).map(([signal, list]) => [signal, seriesOf(list, endMs)])),
  pods: {},
});

const input = fc
  .record({ requirements, scale, state: fc.option(state, { nil: undefined }), values: signals })
  .map(({ values, state: known, ...rest }) => ({
    values: values as Values,
    input: inputOf({ ...rest, samples: samplesOf(values as Values), ...(known === undefined ? {} : { state: known }) }),
  }));

const targetOf = (given: AnalysisInput): number => analyze(given).recommendations[0]?.target ?? -1;

describe("analyze", () => {
  it("never recommends fewer replicas when requests and CPU rise in proportion", () => {
    fc.assert(
      fc.property(input, fc.double({ min: 1, max: 20, noNaN: true }), ({ input: given, values }, factor) => {
        const grow = (list: readonly number[] | undefined) => list?.map((value) => value * factor);
        const more: Values = {
          ...values,
          ...(values.requests_per_second && { requests_per_second: grow(values.requests_per_second) ?? [] }),
          ...(values.cpu_millicores && { cpu_millicores: grow(values.cpu_millicores) ?? [] }),
          ...(values.queue_length && { queue_length: grow(values.queue_length) ?? [] }),
        };
        expect(targetOf({ ...given, samples: samplesOf(more) })).toBeGreaterThanOrEqual(targetOf(given));
      }),
    );
  });

  it("never recommends fewer replicas when the requests of any step rise", () => {
    fc.assert(
      fc.property(input, fc.nat({ max: STEPS - 1 }), rate, ({ input: given, values }, step, more) => {
        // With CPU, more requests at the same CPU are cheaper requests. Without latency its weights do not change.
        const rates = values.requests_per_second ?? [];
        const queue = values.queue_length === undefined ? {} : { queue_length: values.queue_length };
        const before: Values = { ...queue, requests_per_second: rates };
        const after: Values = { ...queue, requests_per_second: rates.with(step, (rates[step] ?? 0) + more) };
        const [low, high] = [before, after].map((list) => targetOf({ ...given, samples: samplesOf(list) }));
        expect(high).toBeGreaterThanOrEqual(low ?? 0);
      }),
    );
  });

  it("never recommends fewer replicas when latency rises", () => {
    fc.assert(
      fc.property(input, fc.double({ min: 1, max: 20, noNaN: true }), ({ input: given, values }, factor) => {
        const slower = (values.latency_p99_ms ?? []).map((value) => value * factor);
        const samples = samplesOf({ ...values, latency_p99_ms: slower });
        if (values.latency_p99_ms !== undefined) {
          expect(targetOf({ ...given, samples })).toBeGreaterThanOrEqual(targetOf(given));
        }
      }),
    );
  });

  it("stays within the limits, with ordered bounds and whole replicas", () => {
    fc.assert(
      fc.property(input, ({ input: given }) => {
        const [replicas] = analyze(given).recommendations;
        if (replicas === undefined) return;
        const { lowerBound, target, upperBound, confidence } = replicas;
        expect(Number.isSafeInteger(target) && Number.isSafeInteger(lowerBound)).toBe(true);
        expect(Number.isSafeInteger(upperBound)).toBe(true);
        expect(lowerBound).toBeLessThanOrEqual(target);
        expect(target).toBeLessThanOrEqual(upperBound);
        expect(target).toBeGreaterThanOrEqual(given.scale.min ?? 0);
        expect(upperBound).toBeLessThanOrEqual(given.scale.max ?? Number.POSITIVE_INFINITY);
        if (given.scale.canScaleToZero !== true) expect(target).toBeGreaterThanOrEqual(1);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("gives the same result with a state that was stored and read", () => {
    fc.assert(
      fc.property(input, ({ input: given }) => {
        const first = analyze(given);
        const next = { ...given, nowMs: NOW + 30_000 };
        const stored = JSON.parse(JSON.stringify(first.state)) as AnalyzerState;
        expect(stored).toEqual(first.state);
        expect(analyze({ ...next, state: stored })).toEqual(analyze({ ...next, state: first.state }));
        expect(JSON.parse(JSON.stringify(first))).toEqual(first);
      }),
    );
  });

  it("learns and counts samples once", () => {
    fc.assert(
      fc.property(input, ({ input: given }) => {
        const { state: next } = analyze(given);
        const again = analyze({ ...given, state: next }).state;
        expect(again.curve).toEqual(next.curve);
        expect(again.requests).toEqual(next.requests);
        expect(again.verdicts).toEqual(next.verdicts);
      }),
    );
  });

  it("does not change its input", () => {
    fc.assert(
      fc.property(input, ({ input: given }) => {
        const before = structuredClone(given);
        analyze(given);
        expect(given).toEqual(before);
      }),
    );
  });

  it("never lowers the target when the state is lost", () => {
    fc.assert(
      fc.property(input, fc.integer({ min: 0, max: 60 }), ({ input: given }, previousTarget) => {
        const { state: _lost, ...rest } = given;
        const [replicas] = analyze({ ...rest, previousTarget }).recommendations;
        if (replicas === undefined) return;
        const most = given.scale.max ?? Number.POSITIVE_INFINITY;
        expect(replicas.target).toBeGreaterThanOrEqual(Math.min(previousTarget, most));
      }),
    );
  });

  it("knows nothing when no value is valid", () => {
    const invalid = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 1e300);
    const all = fc.record(Object.fromEntries(SIGNALS.map((signal) => [signal, perStep(invalid)])));
    fc.assert(
      fc.property(input, all, ({ input: given }, values) => {
        const result = analyze({ ...given, samples: samplesOf(values) });
        expect(result.recommendations).toEqual([]);
        expect(result.compliance.every(({ status }) => status === "unknown")).toBe(true);
        expect(result.badness).toBeUndefined();
        expect(result.urgency).toEqual({});
        expect(result.findings.map(({ reason }) => reason)).toEqual(
          expect.arrayContaining(["invalid-values", "no-data"]),
        );
        expect(result.state.curve.points).toEqual(given.state?.curve.points ?? []);
      }),
    );
  });

  it("survives any series", () => {
    const sample = fc.record({
      atMs: fc.oneof(fc.integer({ min: NOW - 900_000, max: NOW + 60_000 }), fc.double()),
      value: fc.oneof(rate, fc.double()),
    });
    const series = fc.array(sample, { maxLength: 40 });
    const all = fc.record(Object.fromEntries(SIGNALS.map((signal) => [signal, series])), { requiredKeys: [] });
    fc.assert(
      fc.property(input, all, series, ({ input: given }, values, history) => {
        const samples: ComponentSamples = { signals: values, pods: {} };
        const past = { requests_per_second: history, errors_per_second: history };
        const result = analyze({ ...given, samples, history: past });
        // Everything is plain JSON: no NaN and nothing infinite.
        expect(JSON.parse(JSON.stringify(result))).toEqual(result);
        for (const { target, lowerBound, upperBound } of result.recommendations) {
          expect(lowerBound).toBeLessThanOrEqual(target);
          expect(target).toBeLessThanOrEqual(upperBound);
        }
      }),
    );
  });

  it("reaches the same verdicts at half of the resolution", () => {
    const half = perStep(rate).map((list) => list.map((_, index) => list[index - (index % 2)] ?? 0));
    const values = fc.record({
      requests_per_second: half,
      latency_p99_ms: half,
      errors_per_second: half,
      ready_replicas: half,
    });
    fc.assert(
      fc.property(values, requirements, (given, required) => {
        const fine = samplesOf(given);
        const coarse: ComponentSamples = {
          pods: {},
          signals: Object.fromEntries(
            Object.entries(fine.signals).map(([signal, list]) => [signal, list.filter((_, index) => index % 2 === 1)]),
          ),
        };
        const settings = { ...DEFAULT_ANALYZER_SETTINGS, stepMs: 60_000 };
        const statuses = (of: Partial<AnalysisInput>) =>
          analyze(inputOf({ requirements: required, ...of })).compliance.map(({ requirement, status }) => [
            requirement,
            status,
          ]);
        expect(statuses({ samples: coarse, settings })).toEqual(statuses({ samples: fine }));
      }),
    );
  });
});
