import { expect, test } from "vitest";
import { toneOf } from "./tone.ts";

test("reads every spelling of a state, and an unknown one is neutral", () => {
  expect(["Running", "RUNNING", "rolled_back", "Unreachable", "Whatever"].map(toneOf)).toEqual([
    "ok",
    "ok",
    "warn",
    "bad",
    "idle",
  ]);
});
