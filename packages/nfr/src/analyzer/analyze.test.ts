import { describe, expect, it } from "vitest";
import { analyze } from "./analyze.ts";
import { constantSamples, inputOf, NOW } from "./testing/samples.ts";

describe("analyze", () => {
  it("recommends nothing and knows nothing without data", () => {
    const requirements = { minThroughputRps: 10, maxLatencyMs: 100, availability: 0.999, maxErrorRate: 0.01 };
    const { recommendations, compliance, findings, badness } = analyze(inputOf({ requirements }));
    expect(recommendations).toEqual([]);
    expect(compliance.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown", "unknown"]);
    expect(findings).toEqual([{ reason: "no-data", signals: [], detail: "no signal has a sample in the window" }]);
    expect(badness).toBeUndefined();
  });

  it("sizes by CPU until the capacity is known", () => {
    const samples = constantSamples({ requests_per_second: 100, cpu_millicores: 1000 });
    const [replicas] = analyze(inputOf({ samples })).recommendations;
    // 1000 m / (500 m * 0.7) = 2.86
    expect(replicas).toMatchObject({ target: 3, observedAtMs: NOW, basis: { values: { cpu_replicas: 2.86 } } });
  });
});
