import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SIGNALS } from "../samples.ts";
import { readRecording, writeRecording } from "./recording.ts";
import { recordRun } from "./testing/record-run.ts";

const component = (changes: object = {}): object => ({
  component: "echo",
  signals: { requests_per_second: [[1, "2"]] },
  ...changes,
});
const recording = (...components: unknown[]): object => ({ version: 1, components });

describe("a recording", () => {
  test("is read as it was written", () => {
    const written = recordRun(200);
    const text = JSON.stringify(writeRecording(written));
    expect(readRecording(JSON.parse(text))).toEqual({ ok: true, value: written });
  });

  test("is read as it was written, whatever its samples", () => {
    const samples = fc.uniqueArray(
      fc.record({ atMs: fc.nat(4e9), value: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
      { selector: ({ atMs }) => atMs },
    );
    const signals = fc.dictionary(fc.constantFrom(...SIGNALS), samples);
    fc.assert(
      fc.property(samples, signals, (load, others) => {
        const sorted = Object.entries({ ...others, requests_per_second: load }).map(([signal, series]) => [
          signal,
          series.map(({ atMs, value }) => ({ atMs, value: value + 0 })).toSorted((a, b) => a.atMs - b.atMs),
        ]);
        const one = {
          component: "echo",
          requirements: {},
          scale: {},
          decisions: [],
          signals: Object.fromEntries(sorted),
        };
        const document: unknown = JSON.parse(JSON.stringify(writeRecording({ tickMs: 1000, components: [one] })));
        expect(readRecording(document)).toEqual({ ok: true, value: { tickMs: 1000, components: [one] } });
      }),
    );
  });

  test("treats values that are not finite as gaps", () => {
    const read = readRecording(
      recording(
        component({
          signals: {
            requests_per_second: [
              [1, "NaN"],
              [2, "+Inf"],
              [3, "-Inf"],
              [4, 1.5],
            ],
          },
        }),
      ),
    );
    expect(read).toMatchObject({
      ok: true,
      value: { components: [{ signals: { requests_per_second: [{ atMs: 4000, value: 1.5 }] } }] },
    });
  });

  test.each([
    ["$", "text"],
    ["$", []],
    ["$.version", { components: [component()] }],
    ["$.tick_secs", { version: 1, tick_secs: 0, components: [component()] }],
    ["$.extra", { version: 1, extra: 1, components: [component()] }],
    ["$.components", { version: 1, components: [] }],
    ["$.components[0]", recording(1)],
    ["$.components[1].component", recording(component(), component({ component: "" }))],
    ["$.components[0].extra", recording(component({ extra: 1 }))],
    ["$.components[0].requirements", recording(component({ requirements: [] }))],
    ["$.components[0].requirements.availability", recording(component({ requirements: { availability: 99 } }))],
    [
      "$.components[0].requirements.latency_percentile",
      recording(component({ requirements: { latency_percentile: 90 } })),
    ],
    ["$.components[0].scale.max", recording(component({ scale: { max: 0 } }))],
    ["$.components[0].scale.can_scale_to_zero", recording(component({ scale: { can_scale_to_zero: 1 } }))],
    ["$.components[0].signals", recording(component({ signals: 1 }))],
    ["$.components[0].signals.requests_per_second", recording(component({ signals: {} }))],
    ["$.components[0].signals.rps", recording(component({ signals: { requests_per_second: [], rps: [] } }))],
    ["$.components[0].signals.requests_per_second", recording(component({ signals: { requests_per_second: {} } }))],
    [
      "$.components[0].signals.requests_per_second[1]",
      recording(
        component({
          signals: {
            requests_per_second: [
              [1, "1"],
              [2, "x"],
            ],
          },
        }),
      ),
    ],
    [
      "$.components[0].signals.requests_per_second[1]",
      recording(
        component({
          signals: {
            requests_per_second: [
              [2, "1"],
              [1, "1"],
            ],
          },
        }),
      ),
    ],
    ["$.components[0].decisions", recording(component({ decisions: 1 }))],
    [
      "$.components[0].decisions[0].digest",
      recording(component({ decisions: [{ settings: {}, input: {}, outcome: {} }] })),
    ],
  ])("names %s when it is wrong", (path, document) => {
    const read = readRecording(document);
    expect(read.ok).toBe(false);
    expect(read.ok ? [] : read.error.map((violation) => violation.path)).toContain(path);
  });

  test("limits its samples", () => {
    const many = Array.from({ length: 2_000_001 }, (_, at) => at);
    expect(readRecording(recording(component({ signals: { requests_per_second: many } })))).toMatchObject({
      ok: false,
      error: [{ message: expect.stringContaining("limit of 2000000 samples") }],
    });
  });
});
