import { failedPrecondition } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { SIGNALS } from "@oaas/nfr";
import { QUERY_TEMPLATES, type ComponentTarget, type QueryOverrides } from "@oaas/nfr/queries";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import type { QueryResult, RangeQuery } from "@oaas/prometheus-client";
import { describe, expect, it } from "vitest";
import type { MetricsProvider } from "./metrics-provider.ts";
import { SignalReader } from "./signal-reader.ts";
import { analyzerMetrics } from "./telemetry.ts";

const EMPTY: QueryResult = { series: [], warnings: [], isPartial: false, droppedSamples: 0, duplicates: [] };

function targetIn(namespace: string, maxLatencyMs?: number): ComponentTarget {
  const workloads = [{ kind: "Deployment", namespace, name: "web" }] as const;
  const limit = maxLatencyMs === undefined ? {} : { maxLatencyMs };
  return { key: `${namespace}/f`, namespace, owner: "web", functionLabel: "f", workloads, ...limit };
}

function setup(answer: (query: RangeQuery) => QueryResult | Error) {
  const asked: RangeQuery[] = [];
  const ambient = virtualAmbient(5);
  const provider: MetricsProvider = {
    breaker: "closed",
    queryInstant: async () => EMPTY,
    healthCheck: async () => ({ isHealthy: true, latencyMs: 1, warnings: [] }),
    queryRange: async (query) => {
      asked.push(query);
      const given = answer(query);
      if (given instanceof Error) throw given;
      return given;
    },
  };
  const meter = createRecordingMeter();
  const reader = new SignalReader({
    provider,
    ambient,
    logger: NOOP_LOGGER,
    metrics: analyzerMetrics(meter),
    rangeMs: 600_000,
    stepMs: 30_000,
    rateWindowMs: 120_000,
    scheme: "prometheus",
    overrides: {},
  });
  const read = async (targets: readonly ComponentTarget[]) => {
    const done = reader.read(targets, new AbortController().signal);
    const progress = { over: false };
    void done.finally(() => (progress.over = true));
    while (!progress.over) await ambient.time.step();
    return done;
  };
  return { asked, reader, read, meter };
}

describe("SignalReader", () => {
  it("asks about a hundred namespaces at once", async () => {
    const { asked, read } = setup(() => EMPTY);
    await read(Array.from({ length: 250 }, (_, index) => targetIn(`team-${index}`, 100)));
    expect(asked).toHaveLength(3 * SIGNALS.length);
    const namespaces = asked
      .filter(({ expression }) => expression.includes("container_memory_working_set_bytes"))
      .flatMap(({ expression }) => /namespace=~"([^"]*)"/.exec(expression)?.[1]?.split("|") ?? []);
    expect(new Set(namespaces).size).toBe(250);
  });

  it("does not read slow requests without a latency requirement", async () => {
    const { asked, read } = setup(() => EMPTY);
    await read([targetIn("a")]);
    expect(asked).toHaveLength(SIGNALS.length - 1);
  });

  it("reads nothing without classes", async () => {
    const { asked, read } = setup(() => EMPTY);
    expect((await read([])).failuresOf(undefined).size).toBe(0);
    expect(asked).toEqual([]);
  });

  it("stores the other signals when one query fails, and counts the failure", async () => {
    const memory = "container_memory_working_set_bytes";
    const { reader, read, meter } = setup(({ expression, endMs }) => {
      if (expression.includes("restarts_total")) return failedPrecondition("query", "parse error");
      if (!expression.includes(memory)) return EMPTY;
      const labels = { namespace: "a", pod: "web-7d4b9c6f5d-x2x4z" };
      return { ...EMPTY, series: [{ labels, samples: [{ atMs: endMs, value: 7 }] }] };
    });
    const failures = (await read([targetIn("a")])).failuresOf(targetIn("a"));
    expect([...failures.keys()].toSorted()).toEqual(["oom_kills", "restarts"]);
    expect(failures.get("restarts")).toMatchObject({ fault: { message: "parse error" } });
    expect(reader.samplesOf("a/f").signals.memory_bytes?.map(({ value }) => value)).toEqual([7]);
    expect(meter.value("crm_nfr_query_errors_total", { signal: "restarts", kind: "failed-precondition" })).toBe(1);
    expect(meter.observations("crm_nfr_query_duration_seconds", { signal: "memory_bytes" })).toHaveLength(1);
  });

  it("stores nothing of a signal when a part of its namespaces fails", async () => {
    const targets = Array.from({ length: 150 }, (_, index) => targetIn(`team-${String(index).padStart(3, "0")}`));
    const { reader, read } = setup(({ expression, endMs }) => {
      if (expression.includes("team-149")) return failedPrecondition("query", "too many samples");
      const labels = { namespace: "team-000", deployment: "web" };
      return { ...EMPTY, series: [{ labels, samples: [{ atMs: endMs, value: 1 }] }] };
    });
    const failures = (await read(targets)).failuresOf(targets[0]);
    expect(failures.has("ready_replicas")).toBe(true);
    expect(reader.samplesOf("team-000/f").signals.ready_replicas).toBeUndefined();
  });

  describe("with queries of environments", () => {
    const own = { memory_bytes: "own_memory{namespace=~$namespaces}" };
    const inEnvironment = (namespace: string, name: string, queries: QueryOverrides): ComponentTarget => ({
      ...targetIn(namespace),
      key: `${namespace}/${name}`,
      owner: name,
      workloads: [{ kind: "Deployment", namespace, name }],
      queries,
    });
    const memoryOf = (reader: SignalReader, key: string) =>
      reader.samplesOf(key).signals.memory_bytes?.map(({ value }) => value);
    /** Every query about memory returns the series of all classes; `own_memory` returns other values. */
    const answerMemory = ({ expression, endMs }: RangeQuery): QueryResult => {
      if (!expression.includes("memory")) return EMPTY;
      const value = expression.startsWith("own") ? 5 : 7;
      const names = ["web", "shop"].map((deployment) => ({ namespace: "a", deployment }));
      return { ...EMPTY, series: names.map((labels) => ({ labels, samples: [{ atMs: endMs, value }] })) };
    };

    it("adds one query, with effect on the classes of the environment only", async () => {
      const { asked, reader, read } = setup(answerMemory);
      const many = Array.from({ length: 20 }, (_, index) => inEnvironment("b", `shop-${index}`, own));
      await read([targetIn("a"), inEnvironment("a", "shop", own), ...many]);
      expect(asked).toHaveLength(SIGNALS.length - 1 + 1);
      expect(asked.filter(({ expression }) => expression.startsWith("own"))).toMatchObject([
        { expression: 'own_memory{namespace=~"a|b"}' },
      ]);
      expect([memoryOf(reader, "a/f"), memoryOf(reader, "a/shop")]).toEqual([[7], [5]]);
    });

    it("does not add a query when an environment repeats the query of the cluster", async () => {
      const { asked, read } = setup(answerMemory);
      const same = { memory_bytes: QUERY_TEMPLATES.prometheus.memory_bytes };
      await read([targetIn("a"), inEnvironment("a", "shop", same)]);
      expect(asked).toHaveLength(SIGNALS.length - 1);
    });

    it("keeps the failure of such a query away from other classes", async () => {
      const { reader, read } = setup((query) =>
        query.expression.startsWith("own") ? failedPrecondition("query", "too many samples") : answerMemory(query),
      );
      const shop = inEnvironment("a", "shop", own);
      const outcome = await read([targetIn("a"), shop]);
      expect([...outcome.failuresOf(shop).keys()]).toEqual(["memory_bytes"]);
      expect(outcome.failuresOf(targetIn("a")).size).toBe(0);
      expect([memoryOf(reader, "a/f"), memoryOf(reader, "a/shop")]).toEqual([[7], undefined]);
    });

    it("reads the whole range again when the query of a class changes", async () => {
      const { asked, reader, read } = setup(answerMemory);
      const shop = inEnvironment("a", "shop", own);
      await read([shop]);
      const { queries: _, ...withoutQueries } = shop;
      await read([withoutQueries]);
      const { startMs = 0, endMs = 0 } = asked.findLast(({ expression }) => expression.includes("memory")) ?? {};
      expect(endMs - startMs).toBe(600_000);
      expect(memoryOf(reader, "a/shop")).toEqual([7]);
    });
  });
});
