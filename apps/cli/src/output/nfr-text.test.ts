import type { Reply } from "@oaas/contracts/rest";
import { describe, expect, it } from "vitest";
import { createColours } from "./colours.ts";
import { isChangeRecommended, nfrText, valueText } from "./nfr-text.ts";

type ClusterState = Reply<"getDeploymentStatus">["value"]["clusters"][number];

const now = Date.parse("2026-01-01T00:10:00Z");
const look = { now, colours: createColours(false, {}), isWide: true };

function clusterOf(over: Partial<ClusterState>): ClusterState {
  return {
    cluster: "edge",
    unit_id: "u",
    reachable: true,
    condition: "Running",
    serving: true,
    up_to_date: true,
    phase: null,
    message: null,
    functions: [],
    error: null,
    observed_at: null,
    ...over,
  };
}

const MEASURED = clusterOf({
  nfr_compliance: {
    overall_status: "Violated",
    throughput_status: null,
    latency_status: "Violated",
    availability_status: "Unknown",
    last_checked: "2026-01-01T00:10:00Z",
    measurements: [
      {
        requirement: "max_latency_ms",
        component: "Order.place",
        status: "violated",
        required: 100,
        observed: 152.34,
        unit: "ms",
        window: "10m",
        since: "2026-01-01T00:05:00Z",
        error_budget_left: -0.25,
        burn_rates: [
          { long_window: "6h", short_window: "30m", long_rate: 6 },
          { long_window: "1h", short_window: "5m", long_rate: 14.42, short_rate: 20 },
        ],
      },
      {
        requirement: "availability",
        component: "Order.place",
        status: "unknown",
        reason: "too few requests: 12 of 30",
        required: 0.999,
        unit: "ratio",
        burn_rates: [],
      },
    ],
  },
  nfr_recommendations: [
    {
      component: "Order.place",
      dimension: "replicas",
      target: 3,
      lower_bound: 2,
      upper_bound: 5,
      current: 1,
      confidence: 0.85,
      basis: "rps_per_replica 95 over 10m",
      observed_at: "2026-01-01T00:09:00Z",
      valid_until: "2026-01-01T00:15:00Z",
    },
    {
      component: "Order.place",
      dimension: "memory",
      target: 134_217_728,
      current: 268_435_456,
      valid_until: "2026-01-01T00:01:00Z",
    },
  ],
  last_applied_recommendations: [
    {
      component: "Order.place",
      dimension: "replicas",
      target: 1,
      current: 2,
      applied: {
        action: "apply",
        lane: "stable",
        path: "Deployment/order spec.replicas",
        clamped_by: "min_scale 1",
        applied_at: "2026-01-01T00:00:00Z",
        policy_version: "1",
        digest: "sha256:1",
      },
    },
  ],
});

describe("requirements and recommendations", () => {
  it("shows the numbers of a recommendation with their units", () => {
    const [first] = MEASURED.nfr_recommendations ?? [];
    const values = { p90_bytes: 55_260_000, samples: 3 };
    const evidence = { window: "0m", query: "memory_bytes", values, floor: "min_memory" };
    const one = { ...first, component: "f", dimension: "memory", target: 262_144_000, evidence, confidence: 0.0005 };
    const bounds = { lower_bound: 262_144_000, upper_bound: 1e12 };
    const text = nfrText([clusterOf({ nfr_recommendations: [{ ...one, ...bounds, current: 67_108_864 }] })], look);
    expect(text).toContain("64Mi      250Mi         250Mi…unbounded   <0.1 %");
    expect(text).toContain("p90_bytes 52.7Mi, samples 3 over less than 1m; floor min_memory\n");
  });

  it("is empty when nothing is measured", () => {
    expect(nfrText([clusterOf({})], look)).toBe("");
  });

  it("shows measured values, recommendations with their numbers, and the last change", () => {
    const text = nfrText([MEASURED, clusterOf({ cluster: "idle" })], look);
    expect(text).toBe(
      [
        "",
        "CLUSTER   COMPONENT     REQUIREMENT      STATUS     MEASURED   REQUIRED   WINDOW   FOR   BUDGET LEFT   BURN RATE              REASON",
        "edge      Order.place   max_latency_ms   violated   152 ms     100 ms     10m      5m    -25 %         14.4 in 1h, 20 in 5m",
        "edge      Order.place   availability     unknown    -          99.9 %     -        -     -             -                      too few requests: 12 of 30",
        "",
        "CLUSTER   COMPONENT     DIMENSION   CURRENT   RECOMMENDED   BOUNDS   CONFIDENCE   VALID      BASIS",
        "edge      Order.place   replicas    1         3             2…5      85 %         5m         rps_per_replica 95 over 10m",
        "edge      Order.place   memory      256Mi     128Mi         -        -            outdated",
        "",
        "last change in edge: Order.place replicas 2 → 1, stable, 10m ago (Deployment/order spec.replicas, limited by min_scale 1)",
        "",
      ].join("\n"),
    );
  });

  it("shows only missed requirements and recommended changes unless the output is wide", () => {
    const met = { ...MEASURED.nfr_compliance!.measurements![0]!, status: "met" } as const;
    const compliance = { ...MEASURED.nfr_compliance!, measurements: [met] };
    const text = nfrText([MEASURED, clusterOf({ cluster: "cloud", nfr_compliance: compliance })], {
      ...look,
      isWide: false,
    });
    expect(text).toBe(
      [
        "",
        "CLUSTER   COMPONENT     REQUIREMENT      STATUS     MEASURED   REQUIRED   WINDOW   FOR   REASON",
        "edge      Order.place   max_latency_ms   violated   152 ms     100 ms     10m      5m",
        "edge      Order.place   availability     unknown    -          99.9 %     -        -     too few requests: 12 of 30",
        "",
        "CLUSTER   COMPONENT     DIMENSION   CURRENT   RECOMMENDED   CONFIDENCE",
        "edge      Order.place   replicas    1         3             85 %",
        "",
        "last change in edge: Order.place replicas 2 → 1, stable, 10m ago (Deployment/order spec.replicas, limited by min_scale 1)",
        "",
        "-o wide shows all requirements and recommendations with their basis",
        "",
      ].join("\n"),
    );
  });

  it.each([
    { value: 3, dimension: "replicas", text: "3" },
    { value: 250.4, dimension: "cpu", text: "250m" },
    { value: 100_000, dimension: "cpu", text: "100" },
    { value: 1_610_612_736, dimension: "memory", text: "1.5Gi" },
    { value: 512, dimension: "memory", text: "512" },
    { value: 12_345.6, dimension: "", text: "12346" },
    { value: 1_000_000, dimension: "cpu", text: "unbounded" },
    { value: undefined, dimension: "cpu", text: "-" },
  ])("writes $value of $dimension as $text", ({ value, dimension, text }) => {
    expect(valueText(value, dimension)).toBe(text);
  });

  it.each([
    { case: "outside the bounds", given: {}, want: true },
    { case: "within the bounds", given: { current: 2 }, want: false },
    { case: "unknown", given: { current: undefined }, want: true },
    {
      case: "equal without bounds",
      given: { current: 3, lower_bound: undefined, upper_bound: undefined },
      want: false,
    },
    { case: "outside, at the expiry", given: { valid_until: "2026-01-01T00:10:00Z" }, want: false },
    { case: "outside, without an expiry", given: { valid_until: undefined }, want: false },
    { case: "outside, with an invalid expiry", given: { valid_until: "soon" }, want: false },
  ])("recommends a change when the current value is $case: $want", ({ given, want }) => {
    const one = {
      component: "f",
      dimension: "replicas",
      target: 3,
      lower_bound: 2,
      upper_bound: 5,
      current: 1,
      valid_until: "2026-01-01T00:10:01Z",
    };
    const entries = Object.entries({ ...one, ...given }).filter(([, value]) => value !== undefined);
    expect(isChangeRecommended(Object.fromEntries(entries) as unknown as typeof one, now)).toBe(want);
  });
});
