import { conflict } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { EMPTY_HISTORY, type AvailabilityHistory } from "./availability-history.ts";
import { AvailabilityRecorder, SAMPLE_MS, SAVE_MS, type HistoryStore } from "./availability-recorder.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** A cluster whose state a test sets, with a store that checks versions and counts writes. */
class TestCluster {
  readonly ambient = virtualAmbient(1);
  isApiUp = true;
  nodes = { ready: 2, all: 2 };
  leader = "a";
  writes = 0;
  history: AvailabilityHistory | undefined;
  readonly store: HistoryStore = {
    load: async () => {
      if (!this.isApiUp) throw new Error("connection refused");
      return this.history === undefined
        ? { history: EMPTY_HISTORY }
        : { history: this.history, version: this.#version };
    },
    save: async (history, version) => {
      if (!this.isApiUp) throw new Error("connection refused");
      if (version !== this.#version) throw conflict("ConfigMap", "availability");
      this.history = history;
      this.writes += 1;
      this.#version = String(this.writes);
    },
  };
  #version: string | undefined;

  start(identity = "a"): AvailabilityRecorder {
    const recorder = new AvailabilityRecorder({
      ambient: this.ambient,
      store: this.store,
      isApiUp: async () => this.isApiUp,
      nodes: () => this.nodes,
      isLeading: () => this.isApiUp && this.leader === identity,
    });
    recorder.start();
    return recorder;
  }

  async pass(ms: number): Promise<void> {
    await this.ambient.time.advance(ms);
  }
}

describe("availability recorder", () => {
  test("measures the outage of the API, although there is no leader meanwhile", async () => {
    const cluster = new TestCluster();
    const recorder = cluster.start();
    await cluster.pass(9 * HOUR);
    cluster.isApiUp = false;
    await cluster.pass(HOUR);
    cluster.isApiUp = true;
    await cluster.pass(SAVE_MS);
    const { apiAvailability = 0, samples = 0 } = recorder.measure() ?? {};
    expect(apiAvailability).toBeCloseTo(1 - 1 / (10 + 1 / 6), 3);
    expect(samples).toBeGreaterThan(1200);
    await recorder.close();
  });

  test("continues after a restart, and does not count the time in between", async () => {
    const cluster = new TestCluster();
    cluster.nodes = { ready: 1, all: 2 };
    const first = cluster.start();
    await cluster.pass(5 * HOUR);
    await first.close();
    const before = first.measure();
    await cluster.pass(3 * HOUR);
    cluster.nodes = { ready: 2, all: 2 };
    const second = cluster.start();
    await cluster.pass(1);
    expect(second.measure()?.observedMs).toBe(before?.observedMs);
    await cluster.pass(5 * HOUR);
    expect(second.measure()?.nodeAvailability).toBeCloseTo(0.75, 2);
    expect(second.measure()?.observedMs).toBeLessThanOrEqual(10 * HOUR);
    await second.close();
  });

  test("loses at most the time since the last write when the process is killed", async () => {
    const cluster = new TestCluster();
    cluster.start();
    await cluster.pass(5 * HOUR);
    cluster.leader = "b";
    const next = cluster.start("b");
    await cluster.pass(1);
    expect(next.measure()?.observedMs).toBeGreaterThanOrEqual(5 * HOUR - SAVE_MS - 2 * SAMPLE_MS);
  });

  test("counts time once when several replicas observe it, also when the leader changes", async () => {
    const cluster = new TestCluster();
    const [a, b] = [cluster.start("a"), cluster.start("b")];
    for (let turn = 0; turn < 12; turn += 1) {
      cluster.leader = turn % 2 === 0 ? "b" : "a";
      await cluster.pass(HOUR);
    }
    for (const recorder of [a, b]) {
      expect(recorder.measure()?.observedMs).toBeGreaterThan(11.9 * HOUR);
      expect(recorder.measure()?.observedMs).toBeLessThanOrEqual(12 * HOUR);
    }
    await Promise.all([a.close(), b.close()]);
  });

  test("writes seldom: every ten minutes, and soon after a change", async () => {
    const cluster = new TestCluster();
    const recorder = cluster.start();
    await cluster.pass(DAY);
    expect(cluster.writes).toBeLessThanOrEqual(DAY / SAVE_MS + 1);
    const before = cluster.writes;
    await cluster.pass(2 * SAMPLE_MS);
    cluster.nodes = { ready: 1, all: 2 };
    await cluster.pass(2 * 60_000);
    expect(cluster.writes).toBe(before + 1);
    for (let flap = 0; flap < 120; flap += 1) {
      cluster.nodes = { ready: flap % 2, all: 2 };
      await cluster.pass(SAMPLE_MS);
    }
    expect(cluster.writes).toBeLessThanOrEqual(before + 1 + 61);
    await recorder.close();
  });

  test("a follower reads and never writes", async () => {
    const cluster = new TestCluster();
    const follower = cluster.start("b");
    await cluster.pass(HOUR);
    await follower.close();
    expect(cluster.writes).toBe(0);
    expect(follower.measure()?.observedMs).toBeGreaterThan(0.9 * HOUR);
  });

  test("reports nothing before the stored history is loaded", async () => {
    const cluster = new TestCluster();
    cluster.isApiUp = false;
    const recorder = cluster.start();
    await cluster.pass(HOUR);
    expect(recorder.measure()).toBeUndefined();
    cluster.isApiUp = true;
    await cluster.pass(3 * 60_000);
    expect(recorder.measure()?.apiAvailability).toBeLessThan(0.1);
    await recorder.close();
  });
});
