import type { Sample, Series } from "@oaas/nfr";
import type { AssignedSignal } from "@oaas/nfr/queries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SampleStore } from "./sample-store.ts";

const STEP = 30;
const RANGE = 600;

/** What Prometheus has at the steps of a range. */
function fetchedOf(samples: Series, fromMs: number, toMs: number): Map<string, AssignedSignal> {
  const total = samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
  return total.length === 0 ? new Map() : new Map([["a", { total, pods: new Map([["pod", total]]) }]]);
}

describe("SampleStore", () => {
  it("has the same samples after fetches of what is new as after one fetch of the whole range", () => {
    const values = fc.array(fc.option(fc.nat(1_000), { nil: undefined }), { minLength: 5, maxLength: 80 });
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 6 }), (all, stepsPerTick) => {
        const samples = all.flatMap((value, index): Sample[] =>
          value === undefined ? [] : [{ atMs: index * STEP, value }],
        );
        const store = new SampleStore();
        let readUntil: number | undefined;
        const endOfAll = (all.length - 1) * STEP;
        for (
          let endMs = 0;
          endMs <= endOfAll;
          endMs = Math.min(endMs + stepsPerTick * STEP, Math.max(endOfAll, endMs + 1))
        ) {
          const keepFromMs = endMs - RANGE;
          const fromMs = Math.max(keepFromMs, (readUntil ?? Number.NEGATIVE_INFINITY) - 2 * STEP);
          // Samples of the last two steps change while they arrive.
          const arriving = samples.map((one) => (one.atMs > endMs - 2 * STEP ? { ...one, value: one.value / 2 } : one));
          const isLast = endMs === endOfAll;
          store.add("cpu_millicores", fetchedOf(isLast ? samples : arriving, fromMs, endMs), { fromMs, keepFromMs });
          readUntil = endMs;
        }
        const expected = samples.filter(({ atMs }) => atMs >= endOfAll - RANGE);
        const { signals, pods } = store.samplesOf("a");
        expect(signals.cpu_millicores ?? []).toEqual(expected);
        expect(pods["pod"]?.cpuMillicores ?? []).toEqual(expected);
      }),
    );
  });

  it("keeps CPU, memory and OOM kills of each pod", () => {
    const store = new SampleStore();
    const range = { fromMs: 0, keepFromMs: 0 };
    const one = fetchedOf([{ atMs: 0, value: 1 }], 0, 0);
    for (const signal of ["cpu_millicores", "memory_bytes", "oom_kills", "restarts"] as const)
      store.add(signal, one, range);
    expect(Object.keys(store.samplesOf("a").pods["pod"] ?? {})).toEqual(["cpuMillicores", "memoryBytes", "oomKills"]);
  });

  it("forgets components that are gone, and their pods", () => {
    const store = new SampleStore();
    const fetched = fetchedOf([{ atMs: 0, value: 1 }], 0, 0);
    store.add("cpu_millicores", fetched, { fromMs: 0, keepFromMs: 0 });
    store.add("cpu_millicores", new Map(), { fromMs: RANGE, keepFromMs: STEP });
    expect(store.samplesOf("a")).toEqual({ signals: {}, pods: {} });
    store.add("cpu_millicores", fetched, { fromMs: 0, keepFromMs: 0 });
    store.retain(new Set(["b"]));
    expect(store.samplesOf("a")).toEqual({ signals: {}, pods: {} });
  });
});
