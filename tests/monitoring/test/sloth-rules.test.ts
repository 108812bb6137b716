import { readFileSync } from "node:fs";
import { describeWith } from "@oaas/testkit";
import { expect, test } from "vitest";
import { compareWithSloth, RECORDED_RULES } from "../src/sloth.ts";

describeWith(["promtool"], "burn rate alerts", () => {
  test("fire at the same times as those that Sloth generates", async () => {
    expect(await compareWithSloth(readFileSync(RECORDED_RULES, "utf8"), 120)).toBeUndefined();
  });
});
