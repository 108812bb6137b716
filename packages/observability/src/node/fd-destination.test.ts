import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createFdDestination, type LogDestination } from "./fd-destination.ts";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-fd-destination-"));
afterAll(() => rmSync(folder, { recursive: true }));

const file = path.join(folder, "log");
let fd: number;
let destination: LogDestination;
beforeEach(() => {
  fd = openSync(file, "w");
  destination = createFdDestination(fd);
  return () => closeSync(fd);
});
const written = (): string => readFileSync(file, "utf8");

describe("lines that are written together", () => {
  test("are there when the work returns, in their order, and not before", () => {
    destination.write("first\n");
    destination.together?.(() => {
      destination.write("second\n");
      destination.together?.(() => destination.write("third\n"));
      expect(written()).toBe("first\n");
    });
    expect(written()).toBe("first\nsecond\nthird\n");
    destination.write("fourth\n");
    expect(written()).toBe("first\nsecond\nthird\nfourth\n");
  });

  test("are written also when the work fails", () => {
    expect(() =>
      destination.together?.(() => {
        destination.write("said\n");
        throw new Error("stopped");
      }),
    ).toThrow("stopped");
    destination.write("after\n");
    expect(written()).toBe("said\nafter\n");
  });
});
