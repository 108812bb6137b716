import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterHealth, ClusterName } from "@oaas/models";
import { afterEach, describe, expect, it } from "vitest";
import type { ClusterEntry, HealthReading } from "../ports.ts";
import { HealthDirectory } from "./health-directory.ts";

const edge = "edge" as ClusterName;
const healthy: ClusterHealth = { cluster: edge, status: "healthy", availability: 0.99 };

const open: { close(): void }[] = [];
afterEach(() => open.splice(0).forEach((one) => one.close()));

function directoryOf(options: { ttlMs?: number; intervalMs?: number; names?: readonly string[] } = {}) {
  const ambient = virtualAmbient(3);
  const names = new Set((options.names ?? ["edge"]) as ClusterName[]);
  const listeners = new Set<(name: ClusterName) => void>();
  const entry = (name: ClusterName): ClusterEntry | undefined =>
    names.has(name) ? { name, url: "http://x", labels: {}, retryAttempts: 1, tls: false, origin: "api" } : undefined;
  const script = { respond: (): Promise<ClusterHealth> => Promise.resolve(healthy), checks: 0 };
  const directory = new HealthDirectory({
    ambient,
    ttlMs: options.ttlMs ?? 15_000,
    intervalMs: options.intervalMs ?? 60_000,
    roster: {
      entries: () => [...names].map((name) => entry(name) as ClusterEntry),
      entry,
      onChange: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    source: {
      health: () => {
        script.checks += 1;
        return script.respond();
      },
      breaker: () => "closed",
    },
  });
  open.push(directory);
  const change = (name: string, exists: boolean): void => {
    if (exists) names.add(name as ClusterName);
    else names.delete(name as ClusterName);
    for (const listener of listeners) listener(name as ClusterName);
  };
  return { directory, script, change, time: ambient.time };
}

const hang = (): Promise<ClusterHealth> => new Promise(() => undefined);
const fail = (): Promise<ClusterHealth> => Promise.reject(unavailable("edge", "connection refused"));

describe("HealthDirectory", () => {
  it("shares one check between readers and caches the reading", async () => {
    const { directory, script, time } = directoryOf();
    const readings = await Promise.all([directory.reading(edge), directory.reading(edge), directory.readings()]);
    expect(script.checks).toBe(1);
    expect(readings[0]).toMatchObject({ health: healthy, takenAtMs: time.now(), breaker: "closed" });
    await time.advance(14_000);
    await directory.reading(edge);
    expect(script.checks).toBe(1);
    await time.advance(1_000);
    await directory.reading(edge);
    expect(script.checks).toBe(2);
  });

  it("checks on every read without a cache, but shares concurrent checks", async () => {
    const { directory, script } = directoryOf({ ttlMs: 0 });
    await directory.reading(edge);
    await Promise.all([directory.reading(edge), directory.reading(edge)]);
    expect(script.checks).toBe(2);
  });

  it("returns the last reading of a failing cluster without waiting, with the error", async () => {
    const { directory, script, time } = directoryOf({ ttlMs: 0 });
    const first = await directory.reading(edge);
    await time.advance(20_000);
    script.respond = fail;
    expect(await directory.reading(edge)).toMatchObject({
      health: { status: "unhealthy", availability: 0.99 },
      takenAtMs: first.takenAtMs,
      error: "connection refused",
    });
    script.respond = hang;
    expect(await directory.reading(edge)).toMatchObject({ error: "connection refused" });
  });

  it("waits half a second for a slow cluster with an old reading", async () => {
    const { directory, script, time } = directoryOf({ ttlMs: 0 });
    await directory.reading(edge);
    script.respond = hang;
    const waiting = directory.reading(edge);
    await time.advance(500);
    expect(await waiting).toMatchObject({ health: healthy });
  });

  it("waits only for the needed clusters", async () => {
    const { directory, script, time } = directoryOf({ names: ["edge", "hung"] });
    script.respond = hang;
    const hung = directory.reading("hung" as ClusterName);
    script.respond = async () => healthy;
    const readings = await directory.readings({ needed: [edge] });
    expect(readings).toMatchObject([
      { health: healthy },
      { cluster: "hung", error: "the cluster has not responded yet" },
    ]);
    await time.advance(2_000);
    expect(await hung).toMatchObject({ health: { status: "unknown" } });
  });

  it("waits once for a cluster without a reading", async () => {
    const { directory, script, time } = directoryOf();
    const answer = Promise.withResolvers<ClusterHealth>();
    script.respond = () => answer.promise;
    const first = directory.reading(edge);
    await time.advance(2_000);
    expect(await first).toMatchObject({ health: { status: "unknown" }, error: "the cluster has not responded yet" });
    expect(await directory.reading(edge)).toMatchObject({ error: "the cluster has not responded yet" });
    expect(script.checks).toBe(1);
    answer.resolve(healthy);
    await time.advance(0);
    const { health, error } = await directory.reading(edge);
    expect([health, error]).toEqual([healthy, undefined]);
  });

  it("returns unknown for a cluster without a reading and for an unknown cluster", async () => {
    const { directory, script } = directoryOf();
    script.respond = fail;
    expect(await directory.reading(edge)).toMatchObject({ health: { status: "unknown" }, error: "connection refused" });
    expect(await directory.reading("x" as ClusterName)).toMatchObject({ error: 'cluster "x" was not found' });
  });

  it("never rejects, even when the reader aborts", async () => {
    const { directory, script } = directoryOf();
    script.respond = hang;
    const reader = new AbortController();
    const reading = directory.reading(edge, { signal: reader.signal });
    reader.abort();
    expect(await reading).toMatchObject({ health: { status: "unknown" }, error: "the call was cancelled" });
  });

  it("checks healthy clusters by the interval and failing ones with backoff", async () => {
    const { directory, script, time } = directoryOf();
    directory.start();
    await time.advance(0);
    expect(script.checks).toBe(1);
    await time.advance(60_000);
    expect(script.checks).toBe(2);
    script.respond = fail;
    await time.advance(60_000);
    const before = script.checks;
    expect(before).toBeGreaterThanOrEqual(3);
    await time.advance(1_000);
    expect(script.checks - before).toBeLessThanOrEqual(1);
    await time.advance(3_600_000);
    expect(script.checks - before).toBeLessThan(80);
    directory.close();
    const checks = script.checks;
    await time.advance(3_600_000);
    expect(script.checks).toBe(checks);
    expect(time.pendingTimers).toBe(0);
  });

  it("notifies changes only, and drops removed clusters", async () => {
    const { directory, script, change, time } = directoryOf({ names: [] });
    const notified: [HealthReading, HealthReading | undefined][] = [];
    directory.onReading((reading, before) => notified.push([reading, before]));
    directory.start();
    change("edge", true);
    await time.advance(130_000);
    expect(script.checks).toBeGreaterThanOrEqual(3);
    expect(notified).toHaveLength(1);
    script.respond = fail;
    await time.advance(60_000);
    expect(notified.at(-1)?.[0]).toMatchObject({ error: "connection refused" });
    change("edge", false);
    const { checks } = script;
    await time.advance(600_000);
    expect(script.checks).toBe(checks);
    expect(directory.list()).toEqual([]);
  });
});
