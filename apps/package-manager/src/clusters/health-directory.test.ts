import { unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterHealth, ClusterName } from "@oaas/models";
import { afterEach, describe, expect, it } from "vitest";
import type { ClusterEntry, HealthReading } from "../ports.ts";
import { HealthDirectory } from "./health-directory.ts";

const edge = "edge" as ClusterName;
const well: ClusterHealth = { cluster: edge, status: "healthy", availability: 0.99 };

const open: { close(): void }[] = [];
afterEach(() => open.splice(0).forEach((one) => one.close()));

function directoryOf(options: { ttlMs?: number; intervalMs?: number; names?: readonly string[] } = {}) {
  const ambient = virtualAmbient(3);
  const names = new Set((options.names ?? ["edge"]) as ClusterName[]);
  const listeners = new Set<(name: ClusterName) => void>();
  const entry = (name: ClusterName): ClusterEntry | undefined =>
    names.has(name) ? { name, url: "http://x", labels: {}, retryAttempts: 1, tls: false, origin: "api" } : undefined;
  const script = { answer: (): Promise<ClusterHealth> => Promise.resolve(well), asked: 0 };
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
        script.asked += 1;
        return script.answer();
      },
      breaker: () => "closed",
    },
  });
  open.push(directory);
  const change = (name: string, there: boolean): void => {
    if (there) names.add(name as ClusterName);
    else names.delete(name as ClusterName);
    for (const listener of listeners) listener(name as ClusterName);
  };
  return { directory, script, change, time: ambient.time };
}

const hang = (): Promise<ClusterHealth> => new Promise(() => undefined);
const fail = (): Promise<ClusterHealth> => Promise.reject(unavailable("edge", "nobody there"));

describe("the directory of clusters", () => {
  it("asks once for all who wait, and not again while the reading is fresh", async () => {
    const { directory, script, time } = directoryOf();
    const readings = await Promise.all([directory.reading(edge), directory.reading(edge), directory.readings()]);
    expect(script.asked).toBe(1);
    expect(readings[0]).toMatchObject({ health: well, takenAtMs: time.now(), breaker: "closed" });
    await time.advance(14_000);
    await directory.reading(edge);
    expect(script.asked).toBe(1);
    await time.advance(1_000);
    await directory.reading(edge);
    expect(script.asked).toBe(2);
  });

  it("asks every time when the cache is off, and still once for all who wait", async () => {
    const { directory, script } = directoryOf({ ttlMs: 0 });
    await directory.reading(edge);
    await Promise.all([directory.reading(edge), directory.reading(edge)]);
    expect(script.asked).toBe(2);
  });

  it("hands out what a failing cluster last said, at once, with the error and its age", async () => {
    const { directory, script, time } = directoryOf({ ttlMs: 0 });
    const first = await directory.reading(edge);
    await time.advance(20_000);
    script.answer = fail;
    expect(await directory.reading(edge)).toMatchObject({
      health: { status: "unhealthy", availability: 0.99 },
      takenAtMs: first.takenAtMs,
      error: "nobody there",
    });
    script.answer = hang;
    expect(await directory.reading(edge)).toMatchObject({ error: "nobody there" });
  });

  it("waits half a second for a slow cluster of which there is an old reading", async () => {
    const { directory, script, time } = directoryOf({ ttlMs: 0 });
    await directory.reading(edge);
    script.answer = hang;
    const waiting = directory.reading(edge);
    await time.advance(500);
    expect(await waiting).toMatchObject({ health: well });
  });

  it("waits for those who are needed, not for others that hang", async () => {
    const { directory, script, time } = directoryOf({ names: ["edge", "hung"] });
    script.answer = hang;
    const hung = directory.reading("hung" as ClusterName);
    script.answer = async () => well;
    const readings = await directory.readings({ needed: [edge] });
    expect(readings).toMatchObject([{ health: well }, { cluster: "hung", error: "the cluster has not responded yet" }]);
    await time.advance(2_000);
    expect(await hung).toMatchObject({ health: { status: "unknown" } });
  });

  it("waits once for a cluster that never answered, not for every reader again", async () => {
    const { directory, script, time } = directoryOf();
    const answer = Promise.withResolvers<ClusterHealth>();
    script.answer = () => answer.promise;
    const first = directory.reading(edge);
    await time.advance(2_000);
    expect(await first).toMatchObject({ health: { status: "unknown" }, error: "the cluster has not responded yet" });
    expect(await directory.reading(edge)).toMatchObject({ error: "the cluster has not responded yet" });
    expect(script.asked).toBe(1);
    answer.resolve(well);
    await time.advance(0);
    const { health, error } = await directory.reading(edge);
    expect([health, error]).toEqual([well, undefined]);
  });

  it("says unknown for a cluster that never answered, and for one that is not there", async () => {
    const { directory, script } = directoryOf();
    script.answer = fail;
    expect(await directory.reading(edge)).toMatchObject({ health: { status: "unknown" }, error: "nobody there" });
    expect(await directory.reading("x" as ClusterName)).toMatchObject({ error: 'cluster "x" was not found' });
  });

  it("never rejects, also when the reader gives up", async () => {
    const { directory, script } = directoryOf();
    script.answer = hang;
    const reader = new AbortController();
    const reading = directory.reading(edge, { signal: reader.signal });
    reader.abort();
    expect(await reading).toMatchObject({ health: { status: "unknown" }, error: "the call was cancelled" });
  });

  it("asks in the background: well clusters by the interval, failing ones sooner and ever more slowly", async () => {
    const { directory, script, time } = directoryOf();
    directory.start();
    await time.advance(0);
    expect(script.asked).toBe(1);
    await time.advance(60_000);
    expect(script.asked).toBe(2);
    script.answer = fail;
    await time.advance(60_000);
    const before = script.asked;
    expect(before).toBeGreaterThanOrEqual(3);
    await time.advance(1_000);
    expect(script.asked - before).toBeLessThanOrEqual(1);
    await time.advance(3_600_000);
    expect(script.asked - before).toBeLessThan(80);
    directory.close();
    const asked = script.asked;
    await time.advance(3_600_000);
    expect(script.asked).toBe(asked);
    expect(time.pendingTimers).toBe(0);
  });

  it("tells changes and nothing else, and forgets removed clusters", async () => {
    const { directory, script, change, time } = directoryOf({ names: [] });
    const told: [HealthReading, HealthReading | undefined][] = [];
    directory.onReading((reading, before) => told.push([reading, before]));
    directory.start();
    change("edge", true);
    await time.advance(130_000);
    expect(script.asked).toBeGreaterThanOrEqual(3);
    expect(told).toHaveLength(1);
    script.answer = fail;
    await time.advance(60_000);
    expect(told.at(-1)?.[0]).toMatchObject({ error: "nobody there" });
    change("edge", false);
    const { asked } = script;
    await time.advance(600_000);
    expect(script.asked).toBe(asked);
    expect(directory.list()).toEqual([]);
  });
});
