import { expect, test } from "vitest";
import { logText, mergeLogs } from "./log-lines.ts";

const at = (time: string): number => Date.parse(`2026-03-02T${time}Z`);
const texts = (...tails: Parameters<typeof mergeLogs>[0]): string[] => mergeLogs(tails).map(({ text }) => text);

test("merges logs by time and keeps details with their line", () => {
  const merged = mergeLogs([
    {
      file: "package-manager.log",
      lines: ["10:00:00.001 INFO  one", "    caused by x", "10:00:00.003 INFO  three"],
      writtenAt: at("10:00:00.003"),
    },
    {
      file: "clusters/edge/class-runtime-manager.log",
      lines: ["10:00:00.002 INFO  two"],
      writtenAt: at("10:00:00.002"),
    },
  ]);
  expect(merged.map(logText)).toEqual([
    "package-manager 10:00:00.001 INFO  one",
    "package-manager     caused by x",
    "edge            10:00:00.002 INFO  two",
    "package-manager 10:00:00.003 INFO  three",
  ]);
  expect(merged.map(({ isDetail }) => isDetail)).toEqual([false, true, false, false]);
});

test("sorts lines of the previous day first, also in an older log", () => {
  expect(
    texts(
      { file: "stack.log", lines: ["22:00:00.000 quiet since"], writtenAt: at("22:00:00.000") - 86_400_000 },
      {
        file: "package-manager.log",
        lines: ["08:00:00.000 long ago", "07:00:00.000 the day before", "23:00:00.000 late", "09:00:00.000 today"],
        writtenAt: at("09:00:00.000"),
      },
    ),
  ).toEqual([
    "08:00:00.000 long ago",
    "07:00:00.000 the day before",
    "22:00:00.000 quiet since",
    "23:00:00.000 late",
    "09:00:00.000 today",
  ]);
});

test("tolerates a file time shortly before its last line", () => {
  expect(
    texts(
      { file: "a.log", lines: ["09:00:00.004 newest"], writtenAt: at("09:00:00.000") },
      { file: "b.log", lines: ["09:00:00.003 older"], writtenAt: at("09:00:00.003") },
    ),
  ).toEqual(["09:00:00.003 older", "09:00:00.004 newest"]);
});

test("sorts lines without a time by the time of their file", () => {
  expect(
    texts(
      { file: "etcd.log", lines: ["of another program"], writtenAt: at("08:30:00.000") },
      { file: "a.log", lines: ["08:00:00.000 before", "09:00:00.000 after"], writtenAt: at("09:00:00.000") },
    ),
  ).toEqual(["08:00:00.000 before", "of another program", "09:00:00.000 after"]);
});
