import { createRecordingMeter } from "@oaas/observability/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { SagaRecord, SagaState } from "../saga-engine/saga.ts";
import { OpenOperations } from "./open-operations.ts";

function saga(subject: string, state: SagaState, startedAtSeconds: number): SagaRecord {
  return {
    id: `${subject}-${startedAtSeconds}`,
    kind: "deploy-class",
    subject,
    owner: "engine",
    state,
    steps: [],
    sequence: 1,
    parallel: 1,
    onFailure: "go-on",
    data: {},
    startedAt: new Date(startedAtSeconds * 1000).toISOString(),
  };
}

test("shows the number of open operations and the start of the oldest", () => {
  const meter = createRecordingMeter();
  const operations = new OpenOperations(meter);
  const shown = () => [meter.value("pm_operations_open"), meter.value("pm_operations_oldest_start_seconds")];
  expect(shown()).toEqual([0, 0]);
  operations.update("a", saga("a", "running", 100));
  operations.update("b", saga("b", "undoing", 200));
  expect(shown()).toEqual([2, 100]);
  operations.update("a", saga("a", "succeeded", 100));
  expect(shown()).toEqual([1, 200]);
  operations.update("b", undefined);
  expect(shown()).toEqual([0, 0]);
});

test("agrees with a count of all operations after any changes", () => {
  const change = fc.record({
    subject: fc.constantFrom("a", "b", "c", "d"),
    state: fc.constantFrom<SagaState | undefined>("running", "undoing", "succeeded", "failed", undefined),
    at: fc.integer({ min: 1, max: 1_000 }),
  });
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const meter = createRecordingMeter();
      const operations = new OpenOperations(meter);
      const open = new Map<string, number>();
      for (const { subject, state, at } of changes) {
        operations.update(subject, state === undefined ? undefined : saga(subject, state, at));
        if (state === "running" || state === "undoing") open.set(subject, at);
        else open.delete(subject);
        expect(meter.value("pm_operations_open")).toBe(open.size);
        const oldest = open.size === 0 ? 0 : Math.min(...open.values());
        expect(meter.value("pm_operations_oldest_start_seconds")).toBe(oldest);
      }
    }),
  );
});
