import { startPrometheus, sweepSize, type PrometheusUnderTest } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPrometheusApi, TimeSeriesStore, type ApiRequest } from "../src/index.ts";
import { queries, rangeQueries } from "./queries.ts";
import { END_MS, series, START_MS } from "./series.ts";

let prometheus: PrometheusUnderTest;
const store = new TimeSeriesStore({ retentionMs: 24 * 3_600_000 });
const api = createPrometheusApi({ store, now: () => END_MS, version: "2.42", prometheus: 2 });

beforeAll(async () => {
  prometheus = await startPrometheus();
  await prometheus.write(series);
  for (const { labels, samples } of series) for (const { atMs, value } of samples) store.append(labels, atMs, value);
});

afterAll(async () => prometheus?.close());

interface Answer {
  readonly status: string;
  readonly errorType?: string;
  readonly data?: { readonly resultType: string; readonly result: unknown };
}

async function ask(path: string, parameters: Record<string, string>): Promise<{ ours: Answer; theirs: Answer }> {
  const search = new URLSearchParams(parameters).toString();
  const request: ApiRequest = { method: "GET", path: `/api/v1/${path}`, search };
  const response = await fetch(`${prometheus.url}${request.path}?${search}`);
  const theirs = (await response.json()) as Answer;
  const answer = api(request);
  expect(answer.status, `${parameters["query"]}: ${answer.body.slice(0, 300)}`).toBe(response.status);
  return { ours: JSON.parse(answer.body) as Answer, theirs };
}

/** The order of series matters only where the query sorts. */
function expectEqual(query: string, ours: Answer, theirs: Answer): void {
  expect(ours.status, query).toBe(theirs.status);
  expect(ours.errorType, query).toBe(theirs.errorType);
  expect(ours.data?.resultType, query).toBe(theirs.data?.resultType);
  const isOrdered = query.startsWith("sort");
  const left = normalize(ours.data?.result, isOrdered);
  const right = normalize(theirs.data?.result, isOrdered);
  expect(
    left.map(({ key }) => key),
    query,
  ).toEqual(right.map(({ key }) => key));
  for (const [index, { key, points }] of left.entries()) {
    const others = right[index]?.points ?? [];
    expect(
      points.map(([at]) => at),
      `${query} ${key}`,
    ).toEqual(others.map(([at]) => at));
    for (const [step, [at, value]] of points.entries()) {
      const other = others[step]?.[1] ?? "missing";
      if (!isClose(value, other)) expect.fail(`${query} ${key} at ${at}: ours ${value}, theirs ${other}`);
    }
  }
}

type JsonPoint = readonly [number, string];

function normalize(result: unknown, isOrdered: boolean): { key: string; points: readonly JsonPoint[] }[] {
  if (!Array.isArray(result)) return [];
  if (typeof result[0] === "number") return [{ key: "", points: [result as unknown as JsonPoint] }];
  const rows = result as { metric: Record<string, string>; value?: JsonPoint; values?: readonly JsonPoint[] }[];
  const named = rows.map(({ metric, value, values }) => ({
    key: JSON.stringify(Object.entries(metric).sort(([one], [other]) => (one < other ? -1 : 1))),
    points: values ?? (value ? [value] : []),
  }));
  return isOrdered ? named : named.sort((one, other) => (one.key < other.key ? -1 : 1));
}

function isClose(one: string, other: string): boolean {
  if (one === other) return true;
  const [left, right] = [Number(one), Number(other)];
  return Math.abs(left - right) <= 1e-9 * Math.max(1e-9, Math.abs(left), Math.abs(right));
}

const secondsOf = (ms: number): string => String(ms / 1000);

async function compareInstant(query: string, atMs: number): Promise<void> {
  const { ours, theirs } = await ask("query", { query, time: secondsOf(atMs) });
  expectEqual(query, ours, theirs);
}

async function compareRange(query: string, range: { fromMs: number; toMs: number; stepMs: number }): Promise<void> {
  const { fromMs, toMs, stepMs } = range;
  const parameters = { query, start: secondsOf(fromMs), end: secondsOf(toMs), step: secondsOf(stepMs) };
  const { ours, theirs } = await ask("query_range", parameters);
  expectEqual(query, ours, theirs);
}

describe("the evaluator and a real Prometheus", () => {
  it.each(queries)("agree on %s", async (query) => {
    await compareInstant(query, END_MS - 60_000);
    await compareInstant(query, START_MS + 607_345);
  });

  it.each(rangeQueries)("agree on the range of %s", async (query) => {
    await compareRange(query, { fromMs: START_MS - 120_000, toMs: END_MS + 400_000, stepMs: 30_000 });
    await compareRange(query, { fromMs: START_MS + 333, toMs: END_MS, stepMs: 47_001 });
  });

  it("agree on generated queries at generated times", async () => {
    await fc.assert(
      fc.asyncProperty(generatedQuery(), fc.integer({ min: 0, max: END_MS - START_MS }), async (query, afterMs) => {
        await compareInstant(query, START_MS + afterMs);
        await compareRange(query, { fromMs: START_MS + afterMs, toMs: START_MS + afterMs + 300_000, stepMs: 60_000 });
      }),
      { numRuns: sweepSize(60, 1000) },
    );
  });
});

/** Vector expressions over the series of the test, up to three levels deep. */
function generatedQuery(): fc.Arbitrary<string> {
  const selector = fc.constantFrom(
    "requests_total",
    'requests_total{code="200"}',
    'requests_total{pod=~"a.*|b-1"}',
    "temperature",
    'temperature{room!~".*th"}',
    "memory_bytes",
    "nothing",
  );
  const range = fc.constantFrom("15s", "30s", "1m", "2m30s", "5m", "10m");
  const offset = fc.constantFrom("", "", "", " offset 1m", " offset -90s", " @ end()", " @ start() offset 30s");
  const overTime = fc.constantFrom(
    "rate",
    "irate",
    "increase",
    "delta",
    "idelta",
    "changes",
    "resets",
    "avg_over_time",
    "min_over_time",
    "max_over_time",
    "sum_over_time",
    "count_over_time",
    "last_over_time",
    "stddev_over_time",
    "deriv",
  );
  const leaf = fc.oneof(
    fc.tuple(selector, offset).map(([text, shift]) => text + shift),
    fc
      .tuple(overTime, selector, range, offset)
      .map(([name, text, width, shift]) => `${name}(${text}[${width}]${shift})`),
    fc.tuple(overTime, selector, range).map(([name, text, width]) => `${name}((${text} + 1)[${width}:20s])`),
  );
  const modifier = fc.constantFrom("", " by (pod)", " without (pod)", " by (code, room)");
  const { expr } = fc.letrec<{ expr: string }>((tie) => ({
    expr: fc.oneof(
      { maxDepth: 3, depthSize: "small" },
      leaf,
      fc
        .tuple(fc.constantFrom("sum", "avg", "min", "max", "count", "group"), modifier, tie("expr"))
        .map(([operator, by, inner]) => `${operator}${by} (${inner})`),
      fc
        .tuple(fc.constantFrom(0, 0.5, 0.95, 1), modifier, tie("expr"))
        .map(([q, by, inner]) => `quantile${by} (${q}, ${inner})`),
      fc
        .tuple(
          tie("expr"),
          fc.constantFrom("+", "-", "*", "/", ">", "<= bool", "and", "or", "unless", "%", "=="),
          tie("expr"),
        )
        .map(([left, operator, right]) => `(${left}) ${operator} (${right})`),
      fc
        .tuple(tie("expr"), fc.constantFrom("*", ">", "== bool", "^", "-"), fc.constantFrom("2", "-1", "0.5", "Inf"))
        .map(([left, operator, right]) => `(${left}) ${operator} ${right}`),
      fc
        .tuple(fc.constantFrom("abs", "ceil", "sgn", "-", "vector(1) + on() "), tie("expr"))
        .map(([name, inner]) => `${name}(${inner})`),
    ),
  }));
  return expr;
}
