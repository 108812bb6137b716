import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Compliance, Recommendation } from "@oaas/nfr";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nextNfrStatus, type NfrReport } from "./nfr-status.ts";
import { observedState } from "./observed-condition.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-01-01T00:00:00Z");
const observed = { status: "True", reason: "MetricsObserved", message: "The requirements are measured." } as const;

function replicas(over: Partial<Recommendation> = {}): Recommendation {
  return {
    component: "f",
    dimension: "replicas",
    target: 3,
    lowerBound: 2,
    upperBound: 4,
    basis: { window: "10m", query: "requests_per_second", values: { requests_per_second: 100 } },
    confidence: 0.6,
    current: 2,
    observedAtMs: NOW,
    validUntilMs: NOW + MINUTE,
    ...over,
  };
}

function latency(over: Partial<Compliance> = {}): Compliance {
  return {
    component: "f",
    requirement: "latency",
    status: "met",
    measured: 80,
    target: 200,
    window: "10m",
    sinceMs: NOW,
    errorBudgetLeft: 1,
    burnRates: [{ long: "1h", short: "5m", longRate: 0, shortRate: 0 }],
    ...over,
  };
}

function report(over: Partial<NfrReport> = {}): NfrReport {
  return { recommendations: [replicas()], compliance: [latency()], observed, components: new Set(["f"]), ...over };
}

const at = (nowMs: number) => ({ nowMs, generation: 1 });
/** The status after a first write. */
const written = nextNfrStatus(undefined, report(), at(NOW)).status ?? {};
const next = (over: Partial<NfrReport>, nowMs = NOW + MINUTE, before: ClassRuntimeStatus = written) =>
  nextNfrStatus(before, report(over), at(nowMs));

describe("nextNfrStatus", () => {
  it("writes everything at first, and nothing for the same report", () => {
    expect(written).toMatchObject({
      nfr_recommendations: [
        { component: "f", dimension: "replicas", target: 3, valid_until: "2026-01-02T00:00:00.000Z" },
      ],
      nfr_compliance: { overall_status: "Compliant" },
      conditions: [{ type: "NfrObserved", status: "True", lastTransitionTime: "2026-01-01T00:00:00.000Z" }],
    });
    expect(next({})).toEqual({ status: undefined, transitions: [], isObservationChanged: false });
  });

  const changes: { name: string; over: Partial<NfrReport>; isWritten: boolean; afterMs?: number }[] = [
    { name: "another target", over: { recommendations: [replicas({ target: 4, upperBound: 5 })] }, isWritten: true },
    { name: "bounds within one replica", over: { recommendations: [replicas({ upperBound: 5 })] }, isWritten: false },
    { name: "noise in the confidence", over: { recommendations: [replicas({ confidence: 0.65 })] }, isWritten: false },
    { name: "a new level of confidence", over: { recommendations: [replicas({ confidence: 0.8 })] }, isWritten: true },
    { name: "another value in effect", over: { recommendations: [replicas({ current: 3 })] }, isWritten: true },
    { name: "a floor that binds", over: { recommendations: [replicas({ basis: { ...replicas().basis, floor: "min_scale" } })] }, isWritten: true },
    { name: "noise in a measurement", over: { compliance: [latency({ measured: 95 })] }, isWritten: false, afterMs: 10 * MINUTE },
    { name: "another measurement, soon", over: { compliance: [latency({ measured: 160 })] }, isWritten: false },
    { name: "another measurement, later", over: { compliance: [latency({ measured: 160 })] }, isWritten: true, afterMs: 10 * MINUTE },
    { name: "a violation", over: { compliance: [latency({ status: "violated", measured: 210 })] }, isWritten: true },
    { name: "another target of the requirement", over: { compliance: [latency({ target: 100 })] }, isWritten: true },
    { name: "a budget that burns", over: { compliance: [latency({ burnRates: [{ long: "1h", short: "5m", longRate: 15, shortRate: 20 }] })] }, isWritten: true, afterMs: 10 * MINUTE },
    { name: "a requirement that is gone", over: { compliance: [] }, isWritten: true },
    { name: "no news of a component", over: { recommendations: [] }, isWritten: false },
    { name: "a component that is gone", over: { recommendations: [], components: new Set() }, isWritten: true },
    { name: "numbers that are a day old", over: {}, isWritten: true, afterMs: 24 * 60 * MINUTE },
  ]; // prettier-ignore
  it.each(changes)("$name: written is $isWritten", ({ over, isWritten, afterMs = MINUTE }) => {
    const observedAtMs = NOW + afterMs;
    const recommendations = (over.recommendations ?? [replicas()]).map((one) => ({ ...one, observedAtMs }));
    expect(next({ ...over, recommendations }, observedAtMs).status !== undefined).toBe(isWritten);
  });

  it("keeps the last recommendation while nothing newer is known", () => {
    const outage = { status: "Unknown", reason: "PrometheusUnavailable", message: "down" } as const;
    const { status } = next({ recommendations: [], observed: outage });
    expect(status?.nfr_recommendations).toEqual(written.nfr_recommendations);
    expect(status?.conditions).toMatchObject([{ status: "Unknown", lastTransitionTime: "2026-01-01T00:01:00.000Z" }]);
  });

  it("keeps the message of an outage, whatever the later attempts report", () => {
    const outage = (message: string) => ({ status: "Unknown", reason: "PrometheusUnavailable", message }) as const;
    const first = next({ observed: outage("connection refused; last data at 1") });
    const later = next({ observed: outage("5 failures in a row; no data so far") }, NOW + 9 * MINUTE, first.status);
    expect(later.status).toBeUndefined();
  });

  it("reports transitions of requirements once", () => {
    const violated = latency({ status: "violated" });
    const { status, transitions } = next({ compliance: [violated] });
    expect(transitions).toMatchObject([{ from: { status: "met" }, to: { status: "violated" } }]);
    expect(next({ compliance: [violated] }, NOW + 2 * MINUTE, status).transitions).toEqual([]);
  });

  it("replaces what the Rust manager wrote", () => {
    const before = { nfr_recommendations: { replicas: 3 } } as unknown as ClassRuntimeStatus;
    expect(nextNfrStatus(before, report(), at(NOW)).status?.nfr_recommendations).toHaveLength(1);
  });

  it("never writes twice for one report", () => {
    const number = fc.double({ min: 0, max: 1e6, noNaN: true });
    const any = fc.record({
      target: fc.integer({ min: 0, max: 100 }),
      confidence: fc.double({ min: 0, max: 1, noNaN: true }),
      measured: fc.option(number, { nil: undefined }),
      status: fc.constantFrom<Compliance["status"][]>("met", "violated", "unknown"),
      dimension: fc.constantFrom<Recommendation["dimension"][]>("replicas", "cpu", "memory"),
    });
    fc.assert(
      fc.property(any, any, ({ measured, ...one }, other) => {
        const of = ({ target, confidence, dimension }: typeof one) =>
          replicas({ target, confidence, dimension, lowerBound: target / 2, upperBound: target * 2 });
        const verdict = latency({ status: one.status, ...(measured === undefined ? {} : { measured }) });
        const before = nextNfrStatus(undefined, report({ recommendations: [of(other)] }), at(NOW)).status;
        const same = report({ recommendations: [of(one)], compliance: [verdict] });
        const first = nextNfrStatus(before, same, at(NOW + 10 * MINUTE));
        expect(nextNfrStatus(first.status ?? before, same, at(NOW + 20 * MINUTE)).status).toBeUndefined();
      }),
    );
  });
});

describe("observedState", () => {
  const input = { maxDataAgeMs: 3 * MINUTE, nowMs: NOW, signals: 2, failures: [] };
  const failure = (signal: string, lastReadMs?: number) => ({ signal, message: "HTTP 503", ...(lastReadMs === undefined ? {} : { lastReadMs }) }); // prettier-ignore
  const fresh = NOW - MINUTE;
  const old = NOW - 10 * MINUTE;
  it.each([
    ["fresh data", { lastDataMs: fresh }, "True", "MetricsObserved"],
    [
      "a short failure",
      { lastDataMs: fresh, failures: [failure("a", fresh), failure("b", fresh)] },
      "True",
      "MetricsObserved",
    ],
    ["one signal lost", { lastDataMs: fresh, failures: [failure("a", old)] }, "Unknown", "QueriesFailed"],
    [
      "all signals lost",
      { lastDataMs: old, failures: [failure("a", old), failure("b", old)] },
      "Unknown",
      "PrometheusUnavailable",
    ],
    ["an outage from the start", { failures: [failure("a"), failure("b")] }, "Unknown", "PrometheusUnavailable"],
    ["no series", {}, "Unknown", "NoSeries"],
    ["outdated series", { lastDataMs: old }, "Unknown", "OutdatedData"],
  ] as const)("%s", (_, over, status, reason) => {
    expect(observedState({ ...input, ...over })).toMatchObject({ status, reason });
  });

  it("names findings that last, without numbers", () => {
    const findings = [
      { component: "g", reason: "gap", signals: ["cpu_millicores"] },
      { component: "f", reason: "signal-missing", signals: ["latency_p99_ms", "errors_per_second"] },
      { component: "f", reason: "cold-start", signals: ["ready_replicas"] },
      { component: "f", reason: "latency-independent-of-load", signals: [] },
    ] as const;
    expect(observedState({ ...input, lastDataMs: fresh, findings }).message).toBe(
      "The requirements are measured. Findings: f latency-independent-of-load; " +
        "f signal-missing (latency_p99_ms, errors_per_second); g gap (cpu_millicores).",
    );
  });
});
