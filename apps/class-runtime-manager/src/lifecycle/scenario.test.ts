import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runScenario } from "./testing/scenario.ts";

const folder = new URL("testdata/", import.meta.url);

describe("scenarios match their recording (UPDATE_GOLDEN=1 updates it)", () => {
  test.each(readdirSync(folder).filter((name) => name.endsWith(".txt")))("%s", (name) => {
    const file = new URL(name, folder);
    const text = readFileSync(file, "utf8");
    const now = runScenario(text);
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, now);
    expect(now).toBe(process.env["UPDATE_GOLDEN"] === "1" ? now : text);
  });
});
