import { existsSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { LONGEST, longestFirst } from "./longest-first.ts";
import { ROOT } from "./root.ts";

const queued = (project: string, file: string) => ({ moduleId: path.join(ROOT, file), project: { name: project } });

test.each(LONGEST)("%s exists", (file) => {
  expect(existsSync(path.join(ROOT, file))).toBe(true);
});

test("runs the longest suites of each project first and keeps the order of the others", () => {
  const [longest = "", second = ""] = LONGEST;
  const unit = [queued("unit", "tools/z.test.ts"), queued("unit", "tools/a.test.ts")];
  const others = [queued("integration", "tests/z.test.ts"), queued("integration", "tests/a.test.ts")];
  const first = [queued("integration", longest), queued("integration", second)];
  expect(longestFirst([...unit, ...others, ...first.toReversed()])).toEqual([...unit, ...first, ...others]);
});
