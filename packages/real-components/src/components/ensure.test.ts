import { describe, expect, it } from "vitest";
import { componentsOf, elapsedText, reportText } from "./ensure.ts";

describe("componentsOf", () => {
  it("includes the test components in every tier", () => {
    const test = componentsOf("test").map((component) => component.name);
    const bench = componentsOf("bench").map((component) => component.name);
    expect(test).not.toContain("etcd-bench");
    expect(bench).toEqual([...test, "etcd-bench"]);
  });
});

describe("reportText", () => {
  const base = { name: "etcd", version: "1" } as const;

  it("prints reason and fix of a missing component", () => {
    const text = reportText({ ...base, state: "missing", reason: "no Go", remedy: "install Go" });
    expect(text).toBe("MISSING: no Go\n  Remedy: install Go");
  });

  it("prints the elapsed time", () => {
    expect(reportText({ ...base, state: "obtained", elapsedMs: 192_000 })).toBe("obtained in 3 min 12 s");
    expect(reportText({ ...base, state: "present" })).toBe("present");
  });
});

describe("elapsedText", () => {
  it.each([
    [0, "0 s"],
    [59_499, "59 s"],
    [60_000, "1 min 0 s"],
  ])("%i ms is %s", (ms, text) => {
    expect(elapsedText(ms)).toBe(text);
  });
});
