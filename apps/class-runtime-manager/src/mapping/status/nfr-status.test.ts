import { classRuntime, MAX_DECISION_RECORD_LENGTH } from "@oaas/contracts/crd";
import {
  BURN_RATE_WINDOWS,
  DIMENSIONS,
  REQUIREMENTS,
  SKIP_REASONS,
  type Compliance,
  type PolicyState,
  type Recommendation,
} from "@oaas/nfr";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { omitUndefined } from "../omit-empty.ts";
import { policyStateFromStatus, policyStateToStatus } from "./enforcement-state.ts";
import { enforcementToWire } from "./enforcement-to-wire.ts";
import { complianceFromStatus, complianceToStatus } from "./nfr-compliance.ts";
import {
  appliedFromStatus,
  appliedToStatus,
  limitRecords,
  recommendationFromStatus,
  recommendationToStatus,
  type AppliedRecommendation,
} from "./nfr-recommendations.ts";

const atMs = fc.integer({ min: 0, max: Date.UTC(2100, 0) });
const value = fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => (one === 0 ? 0 : one));
const word = fc.stringMatching(/^[a-z_]{1,20}$/);
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const component = fc.constantFrom("Order.place", "odgm");
const dimension = fc.constantFrom(...DIMENSIONS);
const lane = fc.constantFrom("stable" as const, "emergency" as const, "verification" as const);
const limit = fc.record({ value, source: word });

const recommendation: fc.Arbitrary<Recommendation> = fc
  .record({
    component,
    dimension,
    target: value,
    lowerBound: value,
    upperBound: value,
    basis: fc
      .record({
        window: fc.constantFrom("10m", "1h", "90s"),
        query: fc.string({ maxLength: 200 }),
        values: fc.dictionary(word, value, { maxKeys: 8, noNullPrototype: true }),
        floor: maybe(word),
        ceiling: maybe(word),
      })
      .map(omitUndefined),
    confidence: fc.double({ min: 0, max: 1, noNaN: true }),
    current: maybe(value),
    observedAtMs: atMs,
    validUntilMs: atMs,
  })
  .map(omitUndefined);

const applied: fc.Arbitrary<AppliedRecommendation> = fc
  .tuple(
    recommendation,
    fc.record({
      action: fc.constantFrom("apply" as const, "revert" as const),
      lane,
      from: value,
      to: value,
      path: word,
      clampedBy: maybe(limit),
      appliedAtMs: atMs,
      policyVersion: word,
      digest: word,
      record: maybe(fc.string({ maxLength: 100 })),
    }),
  )
  .map(([given, change]) => omitUndefined({ recommendation: { ...given, current: change.from }, ...change }));

const compliance: fc.Arbitrary<Compliance> = fc
  .record({
    component,
    requirement: fc.constantFrom(...REQUIREMENTS),
    status: fc.constantFrom("met" as const, "violated" as const, "unknown" as const),
    reason: maybe(fc.string({ maxLength: 100 })),
    measured: maybe(value),
    target: value,
    window: fc.constantFrom("10m", "1h30m", "30d"),
    sinceMs: atMs,
    errorBudgetLeft: maybe(value),
    burnRates: fc.array(
      fc
        .record({ windows: fc.constantFrom(...BURN_RATE_WINDOWS), longRate: maybe(value), shortRate: maybe(value) })
        .map(({ windows, ...rates }) => omitUndefined({ ...windows, ...rates })),
      { maxLength: 4 },
    ),
  })
  .map(omitUndefined);

const policyState: fc.Arbitrary<PolicyState> = fc
  .record({
    targets: fc.array(fc.record({ atMs, target: value }), { maxLength: 20 }),
    lastAction: maybe(
      fc
        .record({
          atMs,
          from: value,
          to: value,
          lane,
          target: value,
          badnessBefore: maybe(value),
          isVerified: fc.boolean(),
        })
        .map(omitUndefined),
    ),
    directionChangesMs: fc.array(atMs, { maxLength: 4 }),
    lastEmergencyMs: maybe(atMs),
    frozenUntilMs: maybe(atMs),
    lastGood: maybe(value),
    rejected: maybe(fc.record({ from: value, to: value, target: value })),
    lastSkip: maybe(fc.constantFrom(...SKIP_REASONS)),
  })
  .map(omitUndefined);

const OBJECT = {
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { name: "order" },
  spec: {
    package_class_key: "shop.Order",
    functions: [{ function_key: "Order.place", provision_config: { container_image: "registry.local/f:1" } }],
  },
};

/** What the API server stores: the status after JSON, accepted by the schema of the kind. */
function stored<T extends object>(status: T): T {
  const json = JSON.parse(JSON.stringify({ ...OBJECT, status })) as unknown;
  return classRuntime.parse(json).status as T;
}

describe("NFR status", () => {
  test("recommendations survive the status", () => {
    fc.assert(
      fc.property(recommendation, (one) => {
        const status = stored({ nfr_recommendations: [recommendationToStatus(one)] });
        expect(status.nfr_recommendations.map(recommendationFromStatus)).toEqual([one]);
      }),
    );
  });

  test("keeps the records of the eight newest changes, and of no longer ones", () => {
    fc.assert(
      fc.property(fc.array(applied, { maxLength: 20 }), (all) => {
        const changes = all.map(appliedToStatus);
        const kept = limitRecords(changes);
        const times = (entries: readonly (typeof changes)[number][]) =>
          entries.filter(({ record }) => record !== undefined).map(({ applied_at }) => Date.parse(applied_at ?? ""));
        const newest = times(changes).toSorted((a, b) => b - a);
        expect(times(kept).toSorted((a, b) => b - a)).toEqual(newest.slice(0, 8));
        expect(kept.map(({ record: _record, ...rest }) => rest)).toEqual(
          changes.map(({ record: _record, ...rest }) => rest),
        );
      }),
    );
    const [one] = fc.sample(applied, 1);
    if (one === undefined) throw new Error("no sample");
    expect(appliedToStatus({ ...one, record: "x".repeat(MAX_DECISION_RECORD_LENGTH + 1) }).record).toBeUndefined();
  });

  test("reports states and decisions, newest first, with the names of their Events", () => {
    const at = (minute: number) => `2026-01-01T00:0${minute}:00Z`;
    const change = { component: "f", dimension: "replicas" as const, target: 2, digest: "sha256:aa", record: "{}" };
    const report = enforcementToWire(
      {
        conditions: [
          { type: "Available", status: "True" },
          { type: "NfrEnforced", status: "True", reason: "Enforcing" },
        ],
        enforcement_state: [
          {
            component: "f",
            dimension: "replicas",
            last_skip: "cooldown",
            last_action: { at: at(2), from: 1, to: 2, lane: "stable", verified: true },
            direction_changes: [at(1), at(2)],
          },
        ],
        last_applied_recommendations: [
          { ...change, dimension: "cpu", applied_at: at(1) },
          { ...change, applied_at: at(2) },
          { ...change, dimension: "memory", applied_at: at(3), record: undefined },
        ] as never,
      },
      (digest) => `hello-${digest}`,
    );
    expect(report.conditions.map(({ type, reason }) => [type, reason])).toEqual([["NfrEnforced", "Enforcing"]]);
    expect(report.states).toMatchObject([
      { lastSkip: "cooldown", lastAction: { from: 1, to: 2, lane: "stable" }, directionChanges: 2 },
    ]);
    expect(report.decisions.map(({ dimension: of, eventName }) => [of, eventName])).toEqual([
      ["replicas", "hello-sha256:aa"],
      ["cpu", "hello-sha256:aa"],
    ]);
    expect(enforcementToWire(undefined, String)).toMatchObject({ conditions: [], states: [], decisions: [] });
  });

  test("applied recommendations survive the status", () => {
    fc.assert(
      fc.property(applied, (one) => {
        const status = stored({ last_applied_recommendations: [appliedToStatus(one)] });
        expect(status.last_applied_recommendations.map(appliedFromStatus)).toEqual([one]);
      }),
    );
  });

  test("compliance survives the status", () => {
    fc.assert(
      fc.property(fc.array(compliance, { minLength: 1, maxLength: 12 }), atMs, (all, checkedAtMs) => {
        const status = stored({ nfr_compliance: complianceToStatus(all, { checkedAtMs }) });
        expect(complianceFromStatus(status.nfr_compliance)).toEqual(all);
      }),
    );
  });

  test("the memory of the policy survives the status", () => {
    fc.assert(
      fc.property(component, dimension, policyState, (component, dimension, state) => {
        const one = { component, dimension, state };
        const status = stored({ enforcement_state: [policyStateToStatus(one)] });
        expect(status.enforcement_state.map(policyStateFromStatus)).toEqual([one]);
      }),
    );
  });

  test("keeps only the newest targets within the limits of the schema", () => {
    const targets = Array.from({ length: 1000 }, (_, index) => ({ atMs: index, target: index }));
    const directionChangesMs = targets.map((one) => one.atMs);
    const state = { component: "odgm", dimension: "cpu", state: { targets, directionChangesMs } } as const;
    const status = stored({ enforcement_state: [policyStateToStatus(state)] });
    expect(status.enforcement_state.map(policyStateFromStatus)[0]?.state.targets.at(-1)).toEqual(targets.at(-1));
  });

  test("reads the shapes of the Rust manager without inventing numbers", () => {
    const status = stored({
      nfr_recommendations: { replicas: 3 },
      last_applied_recommendations: [
        { component: "function", dimension: "replicas" as const, target: 3, basis: "enforcer", confidence: 1 },
      ],
      nfr_compliance: { overall_status: "Compliant", measurements: [{ requirement: "max_latency_ms", required: 10 }] },
    });
    const [first] = status.nfr_recommendations as unknown as Parameters<typeof recommendationFromStatus>;
    expect(first).toMatchObject({ component: "function", dimension: "replicas", target: 3 });
    expect(recommendationFromStatus(first)).toBeUndefined();
    expect(status.last_applied_recommendations.map(appliedFromStatus)).toEqual([undefined]);
    expect(complianceFromStatus(status.nfr_compliance)).toEqual([]);
  });

  test("a skip reason of a newer version counts as none", () => {
    const one = { component: "odgm", dimension: "cpu", last_skip: "moon-phase" } as const;
    expect(policyStateFromStatus(one).state).not.toHaveProperty("lastSkip");
  });

  test.each([
    { statuses: ["met", "violated", "unknown"], overall: "Violated" },
    { statuses: ["met", "unknown"], overall: "Unknown" },
    { statuses: ["met", "met"], overall: "Compliant" },
    { statuses: [], overall: undefined },
  ] as const)("summarizes $statuses as $overall", ({ statuses, overall }) => {
    const all = statuses.map((status): Compliance => ({
      component: "f",
      requirement: "latency",
      status,
      target: 100,
      window: "10m",
      sinceMs: 0,
      burnRates: [],
    }));
    const status = complianceToStatus(all, { checkedAtMs: 0 });
    expect(status?.overall_status).toBe(overall);
    expect(status?.latency_status).toBe(overall);
    expect(status?.throughput_status).toBeUndefined();
  });

  test("explains the basis in words", () => {
    const status = recommendationToStatus({
      component: "Order.place",
      dimension: "replicas",
      target: 3,
      lowerBound: 2,
      upperBound: 5,
      basis: {
        window: "10m",
        query: "q",
        values: { requests_per_second: 240.123, per_replica: 95 },
        floor: "min_scale",
      },
      confidence: 0.9,
      observedAtMs: 0,
      validUntilMs: 600_000,
    });
    expect(status.basis).toBe("requests_per_second 240.1, per_replica 95 over 10m; floor min_scale");
    expect(status.valid_until).toBe("1970-01-01T00:10:00.000Z");
  });
});
