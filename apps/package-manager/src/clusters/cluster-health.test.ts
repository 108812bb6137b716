import { ClusterStatus, type ClusterName } from "@oaas/models";
import { describe, expect, it } from "vitest";
import type { HealthReading } from "../ports.ts";
import {
  assessHealth,
  failedReading,
  hasRecovered,
  isCallable,
  isReachable,
  type HealthFacts,
} from "./cluster-health.ts";

const edge = "edge" as ClusterName;
const health = { cluster: edge, status: ClusterStatus.healthy, availability: 0.99 };
const reading: HealthReading = { cluster: edge, health, takenAtMs: 1, breaker: "closed" };
const failed: HealthReading = failedReading(edge, reading, "closed", "refused");

describe("readings", () => {
  it("keeps the numbers of a cluster that stops responding, as unhealthy", () => {
    expect(failed).toMatchObject({
      takenAtMs: 1,
      error: "refused",
      health: { status: "unhealthy", availability: 0.99 },
    });
  });

  it("is unknown if no health check ever succeeded", () => {
    const never = failedReading(edge, undefined, "closed", "refused");
    expect(never.health).toEqual({ cluster: edge, status: "unknown" });
    expect(failedReading(edge, never, "open", "again")).toMatchObject({
      health: { status: "unknown" },
      breaker: "open",
    });
  });

  it("is reachable if the last health check succeeded", () => {
    expect([isReachable(reading), isReachable(failed)]).toEqual([true, false]);
    expect([hasRecovered(reading, failed), hasRecovered(reading, reading), hasRecovered(failed, failed)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(hasRecovered(reading, undefined), "the first reading").toBe(false);
  });

  it("is callable unless the breaker is open or the cluster is unhealthy", () => {
    expect(isCallable(reading)).toBe(true);
    expect(isCallable({ ...reading, breaker: "half-open" })).toBe(true);
    expect(isCallable({ ...reading, breaker: "open" })).toBe(false);
    expect(isCallable(failed)).toBe(false);
  });
});

describe("assessHealth", () => {
  const facts: HealthFacts = { reading: health, readingAgeMs: 1000, breaker: "closed" };
  it.each<{ name: string; facts: HealthFacts; blocking?: string[]; warnings?: string[] }>([
    { name: "healthy", facts },
    { name: "no reading", facts: { breaker: "open", problem: "refused" }, blocking: ["no-reading"] },
    { name: "availability 0", facts: { ...facts, reading: { ...health, availability: 0 } }, blocking: ["never-up"] },
    { name: "unhealthy", facts: { ...facts, reading: { ...health, status: "unhealthy" } }, blocking: ["unhealthy"] },
    {
      name: "open breaker and old",
      facts: { ...facts, breaker: "open", readingAgeMs: 5001 },
      blocking: ["breaker-open", "stale"],
    },
    { name: "degraded", facts: { ...facts, reading: { ...health, status: "degraded" } }, warnings: ["degraded"] },
    {
      name: "half-open",
      facts: { ...facts, breaker: "half-open", problem: "x" },
      warnings: ["half-open", "unreachable"],
    },
  ])("$name", ({ facts: given, blocking = [], warnings = [] }) => {
    expect(assessHealth(given, 5000)).toMatchObject({ blocking, warnings });
  });
});
