import { expect, test } from "vitest";
import { lastChange } from "./last-change.ts";

const action = (at: string) => ({ at, from: 2, to: 3, lane: "stable", verified: false }) as const;

test("describes the newest change of a class", () => {
  const states = [
    { component: "Sale.buy", dimension: "replicas", last_action: action("2026-11-17T12:00:05.250Z") },
    { component: "Sale.refund", dimension: "replicas", last_action: action("2026-11-17T11:59:59Z") },
    { component: "Sale.buy", dimension: "cpu" },
  ] as const;
  expect(lastChange(states)).toEqual({ lastChange: "Sale.buy replicas 2 to 3, stable lane, 12:00:05 UTC" });
});

test("shows nothing without a change", () => {
  expect(lastChange([{ component: "Sale.buy", dimension: "replicas" }])).toEqual({});
  expect(lastChange()).toEqual({});
});
