import { describe, expect, it } from "vitest";
import type { Case } from "./case.ts";
import { disagreements } from "./differences.ts";
import { differencesOf, judge } from "./judge.ts";
import type { CaseRun } from "./run-case.ts";

const CASE: Case = { name: "c", steps: [{ do: "GET a" }, { do: "GET b" }] };

function run(shown: CaseRun["shown"], broken: readonly string[] = []): CaseRun {
  return { shown, broken };
}

function known(...steps: readonly number[]): ReadonlyMap<number, string> {
  return new Map(steps.map((step) => [step, "known"]));
}

describe("a case on both servers", () => {
  it("passes when both show the same", () => {
    expect(judge(CASE, run([1, { a: 1 }]), run([1, { a: 1 }]), known())).toEqual({ problems: [], differences: [] });
  });

  it("is a problem when they differ without a listed difference", () => {
    const { problems } = judge(CASE, run([1, { a: 1 }]), run([1, { a: 2 }]), known());
    expect(problems).toEqual(["step 2: .a: real 1 embedded 2"]);
  });

  it("is a listed difference only in the listed steps", () => {
    expect(judge(CASE, run([1, 2]), run([1, 3]), known(2))).toEqual({ problems: [], differences: ["known"] });
    expect(judge(CASE, run([0, 2]), run([1, 3]), known(2)).problems).toEqual(["step 1: .: real 0 embedded 1"]);
  });

  it("is a problem when a listed difference no longer shows", () => {
    const { problems, differences } = judge(CASE, run([1, 2]), run([1, 2]), known(2));
    expect(problems).toEqual(["step 2: difference known no longer shows"]);
    expect(differences).toEqual([]);
  });

  it("is a problem when it fails on the real server, whatever the embedded one shows", () => {
    expect(judge(CASE, run([1, 2], ["step 1: no"]), run([1, 2]), known()).problems).toEqual(["real: step 1: no"]);
  });

  it("is a problem when the embedded server violates an expectation without a listed difference", () => {
    expect(judge(CASE, run([1, 2]), run([1, 2], ["no"]), known()).problems).toEqual(["embedded: no"]);
    expect(judge(CASE, run([1, 2]), run([1, 3], ["no"]), known(2)).problems).toEqual([]);
  });

  it("differs when one server did not finish", () => {
    expect(judge(CASE, run([1, 2]), run([1]), known()).problems).toEqual(["step 2: .: real 2 embedded nothing"]);
    expect(judge(CASE, run([1]), run([1]), known()).problems).toEqual([]);
  });
});

describe("differences of two values", () => {
  it("are reported by path, also for members of only one value", () => {
    expect(differencesOf({ a: [1, { b: 2 }], c: 3 }, { a: [1, { b: 4 }, 5] })).toEqual([
      ".a[1].b: real 2 embedded 4",
      ".a[2]: real nothing embedded 5",
      ".c: real 3 embedded nothing",
    ]);
    expect(differencesOf({ a: {} }, { a: [] })).toEqual([".a: real {} embedded []"]);
    expect(differencesOf({ a: null }, {})).toEqual([".a: real null embedded nothing"]);
  });
});

describe("the list of differences", () => {
  it("matches the observed differences one to one", () => {
    expect(disagreements(["a", "b"], new Set(["a", "b"]))).toEqual([]);
    expect(disagreements(["a", "a"], new Set(["a", "c"]))).toEqual([
      "a case names the difference c, which docs/apiserver-differences.md does not list",
      "a is listed twice",
    ]);
    expect(disagreements(["a"], new Set())[0]).toContain("lists a, which no case shows any more");
  });
});
