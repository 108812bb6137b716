import { failedPrecondition, Fault, notFound, unavailable, type FaultKind } from "@oaas/foundation";
import type { QueryResult, RangeQuery } from "@oaas/prometheus-client";
import { expect, it } from "vitest";
import { measuredFunction } from "../testing/measured-function.ts";
import { READ_SIGNALS } from "./component-history.ts";
import { SignalHistoryReader } from "./signal-history.ts";

const RANGE = { startMs: 0, endMs: 2000, stepMs: 1000 };
const EMPTY: QueryResult = { series: [], warnings: [], isPartial: false, droppedSamples: 0, duplicates: [] };

function setup(answer: (query: RangeQuery, signal: AbortSignal | undefined) => Promise<QueryResult>) {
  const load = { running: 0, most: 0, expressions: [] as string[] };
  const reader = new SignalHistoryReader({
    provider: {
      breaker: "closed",
      queryInstant: async () => EMPTY,
      healthCheck: async () => ({ isHealthy: true, latencyMs: 1, warnings: [] }),
      queryRange: async (query, options) => {
        load.expressions.push(query.expression);
        load.running += 1;
        load.most = Math.max(load.most, load.running);
        try {
          return await answer(query, options?.signal);
        } finally {
          load.running -= 1;
        }
      },
    },
    rateWindowMs: 500,
    scheme: "prometheus",
    overrides: {},
    componentsOf: () => [],
  });
  const read = (components = [measuredFunction()], signal = new AbortController().signal) =>
    reader.read(components, RANGE, signal);
  return { load, read };
}

const kindOf = (read: Promise<unknown>): Promise<FaultKind> =>
  read.then(
    () => Promise.reject(new Error("the read succeeded")),
    (thrown: unknown) => Fault.from(thrown).kind,
  );

it("assigns the series of the class to its components, by one narrow query for each signal", async () => {
  const { load, read } = setup(async ({ expression }) => {
    if (!expression.includes("http_requests_total") || expression.includes("0 *")) return EMPTY;
    const of = (owner: string, fn: string, value: number) => ({
      labels: { namespace: "shop", oaas_owner: owner, function: fn },
      samples: [{ atMs: 1000, value }],
    });
    return { ...EMPTY, series: [of("web", "f", 5), of("web", "g", 7), of("other", "f", 9)] };
  });
  const histories = await read([measuredFunction(), measuredFunction({ component: "g" })]);
  const rates = histories.filter(({ signal }) => signal === "requests_per_second");
  expect(rates.map(({ component, values }) => [component, values])).toEqual([
    ["f", [Number.NaN, 5, Number.NaN]],
    ["g", [Number.NaN, 7, Number.NaN]],
  ]);
  expect(load.expressions).toHaveLength(READ_SIGNALS.length);
  for (const expression of load.expressions) expect(expression).toMatch(/=~"\|web/);
  // Rates over less than a step would leave out samples.
  expect(load.expressions[0]).toContain("[1s]");
});

it("runs at most two queries at a time, whatever the number of readers", async () => {
  const { load, read } = setup(async () => {
    await Promise.resolve();
    return EMPTY;
  });
  await Promise.all(Array.from({ length: 5 }, () => read()));
  expect(load.expressions).toHaveLength(5 * READ_SIGNALS.length);
  expect(load.most).toBe(2);
});

it("rejects readers beyond the queue with resource-exhausted", async () => {
  const leaving = new AbortController();
  const { read } = setup(
    (_query, signal) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error))),
  );
  const reads = Array.from({ length: 12 }, () => kindOf(read(undefined, leaving.signal)));
  expect(await Promise.race(reads)).toBe("resource-exhausted");
  leaving.abort(new Fault({ kind: "cancelled" }, "left"));
  expect(new Set(await Promise.all(reads))).toEqual(new Set(["resource-exhausted", "cancelled"]));
});

it("fails with the signal and the reason when a query fails", async () => {
  const { read } = setup(async ({ expression }) => {
    if (expression.includes("memory")) throw failedPrecondition("Prometheus", "the token is invalid");
    return EMPTY;
  });
  await expect(read()).rejects.toThrow("cannot read the signal memory_bytes: the token is invalid");
});

it.each([
  { thrown: new Fault({ kind: "unauthenticated" }, "the token is wrong"), kind: "failed-precondition" },
  { thrown: new Fault({ kind: "permission-denied", action: "query" }, "no tenant"), kind: "failed-precondition" },
  { thrown: notFound("path", "/api/v1"), kind: "failed-precondition" },
  { thrown: unavailable("Prometheus", "it is down"), kind: "unavailable" },
  { thrown: new Fault({ kind: "deadline-exceeded", afterMs: 1 }, "too slow"), kind: "deadline-exceeded" },
])(
  "fails with $kind when the provider answers $thrown.kind, which is not about the caller",
  async ({ thrown, kind }) => {
    const { read } = setup(() => Promise.reject(thrown));
    expect(await kindOf(read())).toBe(kind);
  },
);

it("fails when an answer is partial", async () => {
  const { read } = setup(async () => ({ ...EMPTY, isPartial: true, warnings: ["one store is down"] }));
  await expect(read()).rejects.toThrow("the answer is partial: one store is down");
});

it("queries nothing for a class without workloads", async () => {
  const { load, read } = setup(async () => EMPTY);
  expect(await read([])).toEqual([]);
  expect(load.expressions).toEqual([]);
});
