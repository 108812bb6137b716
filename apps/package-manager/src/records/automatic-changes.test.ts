import { expect, test } from "vitest";
import { HOUR_MS, withChange, type ReplanSettings } from "./automatic-changes.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const settings = (minIntervalMs: number): ReplanSettings => ({
  clusterLostMs: 1,
  minIntervalMs,
  deploymentBudget: 1000,
  platformBudget: 10_000,
});

test("keeps all changes of the last hour, and the newest older one of a deployment within the minimum interval", () => {
  const changes = [
    { owner: "a", atMs: DAY_MS },
    { owner: "b", atMs: DAY_MS + MINUTE_MS },
    { owner: "a", atMs: DAY_MS + 2 * MINUTE_MS },
    { owner: "a", atMs: DAY_MS + 5 * HOUR_MS },
    { owner: "c", atMs: DAY_MS + 5 * HOUR_MS },
  ];
  const added = { owner: "c", atMs: DAY_MS + 5 * HOUR_MS + MINUTE_MS };
  const kept = (minIntervalMs: number) => withChange({ changes }, added, settings(minIntervalMs)).changes;
  expect(kept(DAY_MS)).toEqual([changes[1], changes[3], changes[4], added]);
  expect(kept(5 * MINUTE_MS)).toEqual([changes[3], changes[4], added]);
});

test("the record stays far below the limits of the store with the largest limits", () => {
  let record = { changes: [] as readonly { owner: string; atMs: number }[] };
  for (let count = 0; count < 20_000; count += 50) {
    record = withChange(record, { owner: `deployment-${count % 100}`, atMs: count * 1_000 }, settings(DAY_MS));
  }
  expect(record.changes.length).toBeLessThan(200);
});
