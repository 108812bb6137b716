import { cancelled, invalidArgument, sleep, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { createRecordingMeter } from "@oaas/observability/testing";
import { describe, expect, test } from "vitest";
import { MemoryClasses } from "../classes/testing/memory-classes.ts";
import { PmReporter, reportingMetrics } from "./pm-reporter.ts";
import type { ReportSink } from "./reports.ts";

/** A reporter over classes in memory and a scripted package manager, on virtual time. */
function setUp() {
  const ambient = virtualAmbient(7);
  const classes = new MemoryClasses();
  const meter = createRecordingMeter();
  const reports: string[] = [];
  const sequences: bigint[] = [];
  const epochs = new Set<string>();
  let peak = 0;
  let active = 0;
  const pm = { state: "healthy" as "healthy" | "down" | "hanging" | "rejecting", isLeading: true, reconnects: 0 };
  const receive = async (text: string, signal: AbortSignal): Promise<void> => {
    active += 1;
    peak = Math.max(peak, active);
    try {
      if (pm.state === "hanging") await sleep(ambient.timers, 5_000, signal);
      if (pm.state === "down" || pm.state === "hanging") throw unavailable("the package manager", "connection refused");
      if (pm.state === "rejecting" && text.includes("odd")) throw invalidArgument("the report", []);
      reports.push(text);
    } finally {
      active -= 1;
    }
  };
  const sink: ReportSink = {
    status: async ({ deploymentId, status, origin }, correlationId, signal) => {
      await receive(`${deploymentId} ${status?.status}${correlationId ? ` by ${correlationId}` : ""}`, signal);
      sequences.push(BigInt(origin?.sequence ?? 0));
      epochs.add(origin?.epoch ?? "");
    },
    metrics: ({ deploymentId, samples = [] }, signal) => receive(`${deploymentId} ${samples.length} samples`, signal),
    reconnect: () => void (pm.reconnects += 1),
  };
  const reporter = new PmReporter({
    classes,
    sink,
    cluster: "here",
    ambient,
    logger: NOOP_LOGGER,
    metrics: reportingMetrics(meter),
    isLeading: () => pm.isLeading,
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
  const startTerm = () => {
    const term = new AbortController();
    const done = reporter.run(term.signal);
    return { end: () => (term.abort(cancelled()), done) };
  };
  const count = (outcome: string, about = "status") => meter.value("crm_pm_reports_total", { about, outcome });
  const queued = () => meter.value("crm_pm_reports_queued");
  return { ambient, classes, reports, sequences, epochs, pm, put, startTerm, count, queued, peak: () => peak };
}

test("reports every class at the start of a term, then every change, with increasing sequences", async () => {
  const { ambient, classes, put, startTerm, reports, sequences, epochs } = setUp();
  put("a", "available");
  put("b", "degraded");
  const first = startTerm();
  await ambient.time.advance(1);
  expect(reports).toEqual(["a RUNNING by c", "b DOWN by c"]);
  put("b", "available");
  classes.drop({ namespace: "shop", name: "a" });
  await ambient.time.advance(1);
  expect(reports.slice(2)).toEqual(["b RUNNING by c", "a DELETED by c"]);
  expect(sequences).toEqual([1n, 2n, 3n, 4n]);
  await first.end();
  const second = startTerm();
  await ambient.time.advance(1);
  expect(reports.slice(4)).toEqual(["b RUNNING by c"]);
  expect(epochs.size).toBe(2);
  await second.end();
});

test("retries one report with backoff during an outage, then sends the newest state of each class", async () => {
  const { ambient, pm, put, startTerm, reports, count, queued, peak } = setUp();
  pm.state = "down";
  for (const name of ["a", "b", "c", "d", "e"]) put(name, "available");
  const term = startTerm();
  await ambient.time.advance(30_000);
  expect(reports).toEqual([]);
  expect(queued()).toBe(5);
  const after30s = count("failed") ?? 0;
  expect(after30s).toBeLessThan(15);
  for (const phase of ["degraded", "available", "degraded"] as const) put("a", phase);
  await ambient.time.advance(300_000);
  expect((count("failed") ?? 0) - after30s).toBeLessThan(15);
  expect(pm.reconnects).toBeGreaterThan(0);
  pm.state = "healthy";
  await ambient.time.advance(120_000);
  const states = reports.filter((each) => !each.includes("samples"));
  expect(states.toSorted()).toEqual([
    "a DOWN by c",
    "b RUNNING by c",
    "c RUNNING by c",
    "d RUNNING by c",
    "e RUNNING by c",
  ]);
  expect(queued()).toBe(0);
  expect(peak()).toBeLessThanOrEqual(4);
  await term.end();
});

test("drops a rejected report and sends the others", async () => {
  const { ambient, pm, put, startTerm, reports, count } = setUp();
  pm.state = "rejecting";
  put("odd", "available");
  put("even", "available");
  const term = startTerm();
  await ambient.time.advance(1);
  expect(reports).toEqual(["even RUNNING by c"]);
  expect([count("refused"), count("failed")]).toEqual([1, 0]);
  await term.end();
});

test("sends metrics at the interval for classes that have samples", async () => {
  const { ambient, put, startTerm, reports, count } = setUp();
  put("a", "available", { odgm_cluster_status: { ready_replicas: 1 } });
  put("b", "available");
  const term = startTerm();
  await ambient.time.advance(119_000);
  expect(reports.filter((each) => each.includes("samples"))).toEqual(["a 1 samples"]);
  await ambient.time.advance(2_000);
  expect(count("sent", "metrics")).toBe(2);
  await term.end();
});

describe("the end of a term", () => {
  test("sends pending reports when the process stops", async () => {
    const { pm, ambient, put, startTerm, reports, queued } = setUp();
    const term = startTerm();
    await ambient.time.advance(1);
    for (let n = 0; n < 20; n += 1) put(`c${n}`, "available");
    await term.end();
    expect(reports).toHaveLength(20);
    expect([pm.isLeading, queued()]).toEqual([true, 0]);
  });

  test("stops within the drain limit although the package manager hangs", async () => {
    const { pm, ambient, put, startTerm, count } = setUp();
    const term = startTerm();
    await ambient.time.advance(1);
    pm.state = "hanging";
    put("a", "available");
    const ended = term.end();
    await ambient.time.advance(3_000);
    await ended;
    expect(count("dropped")).toBe(1);
  });

  test("sends nothing after leadership was lost", async () => {
    const { pm, ambient, put, startTerm, reports } = setUp();
    const term = startTerm();
    await ambient.time.advance(1);
    pm.isLeading = false;
    put("a", "available");
    await term.end();
    expect(reports).toEqual([]);
  });
});

test("keeps running after faults of every kind", async () => {
  const { ambient, pm, put, startTerm, reports } = setUp();
  const term = startTerm();
  for (const state of ["hanging", "down", "rejecting", "healthy"] as const) {
    pm.state = state;
    put("a", state === "healthy" ? "available" : "degraded");
    await ambient.time.advance(200_000);
  }
  expect(reports.at(-1)).toBe("a RUNNING by c");
  await expect(term.end()).resolves.toBeUndefined();
});
