import { readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../tasks/root.ts";
import { SCOPES, subjectProblem } from "./message.mjs";

describe("a commit's first line", () => {
  test.each([
    "feat(storage): leases with fencing",
    "fix: no crash on an empty body",
    "refactor(contracts)!: one name",
    "Merge branch 'x'",
  ])("%s is fine", (subject) => expect(subjectProblem(subject)).toBeUndefined());

  test.each([
    ["added stuff", /form/],
    ["feature(storage): x", /unknown type "feature"/],
    ["feat(store): x", /unknown scope "store"/],
    ["feat(storage): ends badly.", /full stop/],
    [`feat(storage): ${"x".repeat(130)}`, /characters long/],
  ])("%s is refused", (subject, why) => expect(subjectProblem(subject)).toMatch(why));
});

test("every package is a scope", () => {
  for (const folder of readdirSync(path.join(ROOT, "packages"))) expect(SCOPES).toContain(folder);
});
