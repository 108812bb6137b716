import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLastLogs, LogReader } from "./log-reader.ts";

let folder: string;
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), "oaas-logs-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string): string => path.join(folder, name);
const texts = (reader: LogReader): string[] => reader.read().map(({ text }) => text);

test("finds all logs of the folder and no other files", () => {
  mkdirSync(file("clusters/edge"), { recursive: true });
  writeFileSync(file("package-manager.log"), "10:00:00.000 a\n");
  writeFileSync(file("clusters/edge/class-runtime-manager.log"), "10:00:00.001 b\n");
  for (const other of ["stack.json", "up.out"]) writeFileSync(file(other), "{}\n");
  expect(readLastLogs(folder).map(({ owner, text }) => [owner, text])).toEqual([
    ["package-manager", "10:00:00.000 a"],
    ["edge", "10:00:00.001 b"],
  ]);
  expect(readLastLogs(file("nowhere"))).toEqual([]);
});

test("returns new complete lines once, also of new and replaced files", () => {
  writeFileSync(file("a.log"), "10:00:00.000 one\n10:00:00.001 half");
  const reader = new LogReader(folder);
  expect(texts(reader)).toEqual(["10:00:00.000 one"]);
  expect(texts(reader)).toEqual([]);
  appendFileSync(file("a.log"), " and whole\n");
  writeFileSync(file("b.log"), "10:00:00.002 new\n");
  expect(texts(reader)).toEqual(["10:00:00.001 half and whole", "10:00:00.002 new"]);
  writeFileSync(file("a.log"), "10:00:00.003 x\n");
  expect(texts(reader)).toEqual(["10:00:00.003 x"]);
});

test("reads the end of a long file first and all later lines", () => {
  const lines = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `10:00:00.000 line ${from + index} ${"x".repeat(80)}`);
  writeFileSync(file("a.log"), `${lines(0, 2_000).join("\n")}\n`);
  const reader = new LogReader(folder);
  const first = texts(reader);
  expect(first.length).toBeGreaterThan(100);
  expect(first.length).toBeLessThan(2_000);
  expect(first).toEqual(lines(2_000 - first.length, first.length));
  appendFileSync(file("a.log"), `${lines(2_000, 3_000).join("\n")}\n`);
  const later: string[] = [];
  for (let more = texts(reader); more.length > 0; more = texts(reader)) later.push(...more);
  expect(later).toEqual(lines(2_000, 3_000));
});

test("splits a line longer than the read limit", () => {
  writeFileSync(file("a.log"), "10:00:00.000 one\n");
  const reader = new LogReader(folder);
  texts(reader);
  appendFileSync(file("a.log"), `10:00:00.001 ${"y".repeat(200_000)}\n10:00:00.002 end\n`);
  const lines: string[] = [];
  for (let more = texts(reader); more.length > 0; more = texts(reader)) lines.push(...more);
  expect(lines.at(-1)).toBe("10:00:00.002 end");
  expect(lines.join("")).toHaveLength(13 + 200_000 + 16);
});
