import { cancelled, invalidArgument, sleep, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { MemoryClasses } from "../classes/testing/memory-classes.ts";
import { PmReporter, reportingMetrics } from "./pm-reporter.ts";
import type { ReportSink } from "./reports.ts";

/** A reporter over classes in memory and a package manager that does as it is told, on virtual time. */
function lab() {
  const ambient = virtualAmbient(7);
  const classes = new MemoryClasses();
  const meter = createRecordingMeter();
  const told: string[] = [];
  const sequences: bigint[] = [];
  const epochs = new Set<string>();
  let most = 0;
  let underWay = 0;
  const pm = { mood: "well" as "well" | "down" | "hangs" | "picky", leading: true, anew: 0 };
  const answer = async (what: string, signal: AbortSignal): Promise<void> => {
    underWay += 1;
    most = Math.max(most, underWay);
    try {
      if (pm.mood === "hangs") await sleep(ambient.timers, 5_000, signal);
      if (pm.mood === "down" || pm.mood === "hangs") throw unavailable("the package manager", "it is down");
      if (pm.mood === "picky" && what.includes("odd")) throw invalidArgument("the report", []);
      told.push(what);
    } finally {
      underWay -= 1;
    }
  };
  const sink: ReportSink = {
    status: async ({ deploymentId, status, origin }, correlationId, signal) => {
      await answer(`${deploymentId} ${status?.status}${correlationId ? ` by ${correlationId}` : ""}`, signal);
      sequences.push(BigInt(origin?.sequence ?? 0));
      epochs.add(origin?.epoch ?? "");
    },
    metrics: ({ deploymentId, samples = [] }, signal) => answer(`${deploymentId} ${samples.length} numbers`, signal),
    reconnect: () => void (pm.anew += 1),
  };
  const reporter = new PmReporter({
    classes,
    sink,
    cluster: "here",
    ambient,
    logger: NOOP_LOGGER,
    metrics: reportingMetrics(meter),
    isLeading: () => pm.leading,
    metricsEveryMs: 60_000,
    drainMs: 3_000,
    concurrency: 4,
  });
  const put = (name: string, phase: "available" | "degraded", more: object = {}) =>
    classes.put({
      apiVersion: "oaas.io/v1alpha1",
      kind: "ClassRuntime",
      metadata: { name, namespace: "shop", annotations: { "oaas.io/correlation-id": "c" } },
      spec: { odgm_config: { collections: ["c"] } },
      status: { phase, ...more },
    });
  const begin = () => {
    const term = new AbortController();
    const over = reporter.run(term.signal);
    return { end: () => (term.abort(cancelled()), over), over };
  };
  const count = (outcome: string, about = "status") => meter.value("crm_pm_reports_total", { about, outcome });
  const queued = () => meter.value("crm_pm_reports_queued");
  return { ambient, classes, told, sequences, epochs, pm, put, begin, count, queued, most: () => most };
}

test("a term tells every class as it is, then every change, each with a greater number", async () => {
  const { ambient, classes, put, begin, told, sequences, epochs } = lab();
  put("a", "available");
  put("b", "degraded");
  const first = begin();
  await ambient.time.advance(1);
  expect(told).toEqual(["a RUNNING by c", "b DOWN by c"]);
  put("b", "available");
  classes.drop({ namespace: "shop", name: "a" });
  await ambient.time.advance(1);
  expect(told.slice(2)).toEqual(["b RUNNING by c", "a DELETED by c"]);
  expect(sequences).toEqual([1n, 2n, 3n, 4n]);
  await first.end();
  const second = begin();
  await ambient.time.advance(1);
  expect(told.slice(4)).toEqual(["b RUNNING by c"]);
  expect(epochs.size).toBe(2);
  await second.end();
});

test("a package manager that is down: one try at a time, ever more rarely; when it is back, the newest state of each class", async () => {
  const { ambient, pm, put, begin, told, count, queued, most } = lab();
  pm.mood = "down";
  for (const name of ["a", "b", "c", "d", "e"]) put(name, "available");
  const term = begin();
  await ambient.time.advance(30_000);
  expect(told).toEqual([]);
  expect(queued()).toBe(5);
  const after30s = count("failed") ?? 0;
  expect(after30s).toBeLessThan(15);
  for (const phase of ["degraded", "available", "degraded"] as const) put("a", phase);
  await ambient.time.advance(300_000);
  expect((count("failed") ?? 0) - after30s).toBeLessThan(15);
  expect(pm.anew).toBeGreaterThan(0);
  pm.mood = "well";
  await ambient.time.advance(120_000);
  const states = told.filter((each) => !each.includes("numbers"));
  expect(states.toSorted()).toEqual([
    "a DOWN by c",
    "b RUNNING by c",
    "c RUNNING by c",
    "d RUNNING by c",
    "e RUNNING by c",
  ]);
  expect(queued()).toBe(0);
  expect(most()).toBeLessThanOrEqual(4);
  await term.end();
});

test("a report that is not wanted is let go, and holds up no other", async () => {
  const { ambient, pm, put, begin, told, count } = lab();
  pm.mood = "picky";
  put("odd", "available");
  put("even", "available");
  const term = begin();
  await ambient.time.advance(1);
  expect(told).toEqual(["even RUNNING by c"]);
  expect([count("refused"), count("failed")]).toEqual([1, 0]);
  await term.end();
});

test("numbers come by and by, of classes that have some", async () => {
  const { ambient, put, begin, told, count } = lab();
  put("a", "available", { odgm_cluster_status: { ready_replicas: 1 } });
  put("b", "available");
  const term = begin();
  await ambient.time.advance(119_000);
  expect(told.filter((each) => each.includes("numbers"))).toEqual(["a 1 numbers"]);
  await ambient.time.advance(2_000);
  expect(count("sent", "metrics")).toBe(2);
  await term.end();
});

describe("the end of a term", () => {
  test("the process stops: what waits is told within the limit", async () => {
    const { pm, ambient, put, begin, told, queued } = lab();
    const term = begin();
    await ambient.time.advance(1);
    for (let n = 0; n < 20; n += 1) put(`c${n}`, "available");
    await term.end();
    expect(told).toHaveLength(20);
    expect([pm.leading, queued()]).toEqual([true, 0]);
  });

  test("a package manager that hangs holds the stop up no longer than that", async () => {
    const { pm, ambient, put, begin, count } = lab();
    const term = begin();
    await ambient.time.advance(1);
    pm.mood = "hangs";
    put("a", "available");
    const ended = term.end();
    await ambient.time.advance(3_000);
    await ended;
    expect(count("dropped")).toBe(1);
  });

  test("the lead was lost: nothing more is told", async () => {
    const { pm, ambient, put, begin, told } = lab();
    const term = begin();
    await ambient.time.advance(1);
    pm.leading = false;
    put("a", "available");
    await term.end();
    expect(told).toEqual([]);
  });
});

test("faults of all kinds end no term", async () => {
  const { ambient, pm, put, begin, told } = lab();
  const term = begin();
  for (const mood of ["hangs", "down", "picky", "well"] as const) {
    pm.mood = mood;
    put("a", mood === "well" ? "available" : "degraded");
    await ambient.time.advance(200_000);
  }
  expect(told.at(-1)).toBe("a RUNNING by c");
  await expect(term.end()).resolves.toBeUndefined();
});
