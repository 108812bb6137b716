import { expect, it } from "vitest";
import { mergedLogs } from "./log-lines.ts";

it("lines of several logs come in the order of their times, and what stands below a line stays with it", () => {
  const tails = new Map([
    ["package-manager.log", ["10:00:00.001 INFO  one", "    caused by x", "10:00:00.003 INFO  three"]],
    ["clusters/edge/class-runtime-manager.log", ["10:00:00.002 INFO  two"]],
  ]);
  expect(mergedLogs(tails, 10)).toEqual([
    "package-manager 10:00:00.001 INFO  one",
    "package-manager     caused by x",
    "edge            10:00:00.002 INFO  two",
    "package-manager 10:00:00.003 INFO  three",
  ]);
  expect(mergedLogs(tails, 1)).toEqual(["package-manager 10:00:00.003 INFO  three"]);
});
