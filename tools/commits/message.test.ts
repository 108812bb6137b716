import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../tasks/root.ts";
import { messageProblem, SCOPES, subjectProblem } from "./message.mjs";

describe("commit subject", () => {
  test.each([
    "feat(storage): leases with fencing",
    "fix: no crash on an empty body",
    "refactor(contracts)!: one name",
    "Merge branch 'x'",
  ])("accepts %s", (subject) => expect(subjectProblem(subject)).toBeUndefined());

  test.each([
    ["added stuff", /form/],
    ["feature(storage): x", /unknown type "feature"/],
    ["feat(store): x", /unknown scope "store"/],
    ["feat(storage): ends badly.", /full stop/],
    [`feat(storage): ${"x".repeat(72)}`, /characters long/],
  ])("rejects %s", (subject, why) => expect(subjectProblem(subject)).toMatch(why));
});

describe("commit message", () => {
  test("accepts a subject with a body", () =>
    expect(messageProblem("fix(pm): reject empty bodies\n\nThe parser crashed on them.")).toBeUndefined());

  test.each(["fix(pm): reject empty bodies", "fix(pm): reject empty bodies\n\n# comment of git\n"])(
    "rejects a message without a body",
    (message) => expect(messageProblem(message)).toMatch(/no body/),
  );

  test("rejects a body under an invalid subject", () => expect(messageProblem("stuff\n\nbecause")).toMatch(/form/));
});

test("every package is a scope", () => {
  for (const folder of readdirSync(path.join(ROOT, "packages"))) expect(SCOPES).toContain(folder);
});
