import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { componentFile, describeWith, makeRunFolder, runCommand } from "@oaas/testkit";
import { expect, test } from "vitest";
import { compareWithSloth, RECORDED_RULES, slothSpec } from "../src/sloth.ts";

/** Generates rules with the real Sloth. */
async function generateRules(): Promise<string> {
  const folder = await makeRunFolder("sloth");
  try {
    const spec = path.join(folder.path, "spec.yaml");
    await writeFile(spec, slothSpec());
    const { exitCode, stdout, stderr } = await runCommand(componentFile("sloth"), ["generate", "--no-log", "-i", spec]);
    expect(exitCode, stderr).toBe(0);
    return stdout;
  } finally {
    await folder.remove();
  }
}

describeWith(["sloth", "promtool"], "burn rate alerts and the real Sloth", () => {
  test("the recorded rules are those that Sloth generates", async () => {
    expect(await generateRules()).toBe(readFileSync(RECORDED_RULES, "utf8"));
  });

  test("fire at the same times, evaluated every ten minutes", async () => {
    expect(await compareWithSloth(await generateRules(), 10)).toBeUndefined();
  });
});
