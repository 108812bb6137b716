import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { analyze } from "../analyzer/analyze.ts";
import { constantSamples, inputOf } from "../analyzer/testing/samples.ts";
import { SKIP_REASONS } from "../enforcement.ts";
import { explainRecommendation, type StoredRecommendation } from "./explain-recommendation.ts";
import { explainSkip } from "./explain-skip.ts";

const stored: StoredRecommendation = {
  component: "resize",
  dimension: "replicas",
  target: 4,
  lowerBound: 3,
  upperBound: 5,
  current: 2,
  confidence: 0.9,
  window: "10m",
  values: {
    requests_per_second: 300,
    latency_p99_ms: 50,
    ready_replicas: 2,
    rps_per_replica: 97,
    capacity_confidence: 0.9,
    sustained_rps: 97,
    saturated_rps: 117,
    demand_replicas: 3.71,
    minimum_replicas: 1,
  },
};

describe("explainRecommendation", () => {
  it("shows signals, model, rules and what would change the target", () => {
    expect(explainRecommendation(stored)).toEqual({
      summary: "4 replicas recommended (3 to 5), 2 in effect, confidence 90 %",
      signals: ["requests_per_second 300 over 10m", "latency_p99_ms 50 ms over 10m", "ready_replicas 2 over 10m"],
      model: [
        "one replica serves 97 requests per second",
        "latency was within its limit at 97",
        "latency was too high at 117",
        "confidence 90 %",
      ],
      rules: ["demand needs 3.71", "minimum needs 1"],
      // 300 * 4 / 3.71 and 300 * 3 / (3.71 * 1.1)
      changes: ["more than 4 above 323 requests per second", "fewer below 221 requests per second"],
    });
  });

  it.each([
    {
      why: "a floor",
      given: { floor: "min_scale", values: { minimum_replicas: 4 } },
      changes: ["fewer when min_scale is lowered"],
    },
    { why: "a limit", given: { ceiling: "max_scale", values: {} }, changes: ["more than 4 when max_scale is raised"] },
    {
      why: "latency",
      given: { values: { latency_replicas: 4 } },
      changes: ["more while latency stays above its limit, after the last change has settled"],
    },
    {
      why: "usage of memory",
      given: { dimension: "memory" as const, values: { p90_bytes: 50 * 1024 * 1024 } },
      changes: ["follows the 90th percentile of the usage, now 50Mi"],
    },
  ])("names $why", ({ given, changes }) => {
    expect(explainRecommendation({ ...stored, ...given }).changes).toEqual(changes);
  });

  it("shows memory in the spelling of Kubernetes", () => {
    const memory = { ...stored, dimension: "memory" as const, target: 250 * 1024 * 1024, current: 64 * 1024 * 1024 };
    const bounds = { lowerBound: 200 * 1024 * 1024, upperBound: 300 * 1024 * 1024 };
    expect(explainRecommendation({ ...memory, ...bounds }).summary).toBe(
      "250Mi memory recommended (200Mi to 300Mi), 64Mi in effect, confidence 90 %",
    );
  });

  it("shows a history that has just begun", () => {
    const cpu = { dimension: "cpu" as const, target: 25, lowerBound: 25, upperBound: 1_000_000, current: 50 };
    const values = { p90_millicores: 10, samples: 3 };
    const one = explainRecommendation({ ...stored, ...cpu, values, confidence: 0.000_520_83, window: "0m" });
    expect(one.summary).toBe("25m CPU recommended (25m to unbounded), 50m in effect, confidence <0.1 %");
    expect(one.signals).toEqual(["p90_millicores 10m over less than 1m", "samples 3 over less than 1m"]);
    expect(one.changes).toEqual(["follows the 90th percentile of the usage, now 10m"]);
  });

  it("says when the capacity is assumed", () => {
    const values = { requests_per_second: 3, rps_per_replica: 1000 };
    expect(explainRecommendation({ ...stored, values }).model).toContain("assumed, not measured yet");
  });

  it("predicts the load at which the analyzer changes its target", () => {
    const rate = fc.integer({ min: 3000, max: 60_000 });
    const targetAt = (rps: number, target?: number) => {
      const state = { verdicts: {}, curve: { learntUntilMs: 0, points: [] }, requests: {} };
      const [one] = analyze(
        inputOf({
          samples: constantSamples({ requests_per_second: rps }),
          ...(target === undefined ? {} : { state: { ...state, target } }),
        }),
      ).recommendations;
      return one;
    };
    fc.assert(
      fc.property(rate, (rps) => {
        const one = targetAt(rps);
        if (one === undefined) throw new Error("no recommendation");
        const { changes } = explainRecommendation({ ...one, values: one.basis.values });
        const limits = changes.map((sentence) => Number(/(?:above|below) (\S+)/.exec(sentence)?.[1]));
        const [above = 0, below = 0] = limits;
        // Sentences have three digits.
        expect(targetAt(above * 1.01, one.target)?.target).toBeGreaterThan(one.target);
        expect(targetAt(above * 0.98, one.target)?.target).toBe(one.target);
        expect(targetAt(below * 0.98, one.target)?.target).toBeLessThan(one.target);
        expect(targetAt(below * 1.02, one.target)?.target).toBe(one.target);
      }),
    );
  });
});

describe("explainSkip", () => {
  it("has a sentence for every reason", () => {
    for (const reason of SKIP_REASONS) expect(explainSkip(reason)).not.toBe(reason);
    expect(explainSkip("something-new")).toBe("something-new");
  });
});
