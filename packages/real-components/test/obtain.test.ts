import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../src/index.ts";
import { runProgram } from "./child-script.ts";

let cache: string;
beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "oaas-obtain-"));
});
afterEach(async () => {
  await rm(cache, { recursive: true, force: true });
});

const linesOf = async (file: string): Promise<string[]> =>
  (await readFile(join(cache, file), "utf8").catch(() => "")).split("\n").filter((line) => line !== "");

const entriesOf = (folder: string): Promise<string[]> => readdir(join(cache, folder)).catch(() => []);

const begun = (times: number): Promise<void> =>
  eventually(async () => expect(await linesOf("made.log")).toHaveLength(times), { what: `recipe run ${times}` });

describe("obtaining a component", () => {
  it("builds once in concurrent runs, and the second run names the first", async () => {
    using first = runProgram("obtain-fake.ts", cache, "make when released");
    await begun(1);
    using second = runProgram("obtain-fake.ts", cache, "make when released");
    await eventually(() => expect(second.output()).toContain(`waiting for another run (process ${first.child.pid},`));
    await writeFile(join(cache, "release"), "");
    expect(await first.waitForLine("REPORT")).toMatchObject({ name: "tool", state: "obtained" });
    expect(await second.waitForLine("REPORT")).toMatchObject({ name: "tool", state: "present" });
    expect(await linesOf("made.log")).toEqual([String(first.child.pid)]);
  });

  it("recovers from a kill -9 without a stale lock, a partial component or a running step", async () => {
    using killed = runProgram("obtain-fake.ts", cache, "hang");
    await eventually(async () => expect(await linesOf("step.pid")).toHaveLength(1), { what: "the step" });
    const [stepPid = ""] = await linesOf("step.pid");
    killed.child.kill("SIGKILL");
    await killed.ended;
    expect(await entriesOf("components")).toEqual([]);

    using next = runProgram("obtain-fake.ts", cache, "make");
    expect(await next.waitForLine("REPORT")).toMatchObject({ state: "obtained" });
    expect(await entriesOf("components")).toHaveLength(1);
    expect(await entriesOf("attempts")).toEqual([]);
    await eventually(() => !existsSync(`/proc/${stepPid}`), { what: "the end of the step's process" });
  });

  it("lets a waiting run take over when the owner dies", async () => {
    using killed = runProgram("obtain-fake.ts", cache, "hang");
    await begun(1);
    using waiting = runProgram("obtain-fake.ts", cache, "make");
    await eventually(() => expect(waiting.output()).toContain("waiting for another run"));
    killed.child.kill("SIGKILL");
    expect(await waiting.waitForLine("REPORT")).toMatchObject({ state: "obtained" });
  });

  it("reports a failure with the fix, keeps nothing, and can be retried", async () => {
    using failing = runProgram("obtain-fake.ts", cache, "fail for disk");
    const report = await failing.waitForLine("REPORT");
    expect(report).toMatchObject({ state: "missing" });
    expect(report["reason"]).toMatch(/building failed: the disk is full[\s\S]*no space left on device/);
    expect(report["remedy"]).toMatch(/free about/);
    expect(await entriesOf("components")).toEqual([]);
    using again = runProgram("obtain-fake.ts", cache, "make");
    expect(await again.waitForLine("REPORT")).toMatchObject({ state: "obtained" });
  });

  it("rejects a program with another version than declared", async () => {
    using wrong = runProgram("obtain-fake.ts", cache, "make another version");
    const report = await wrong.waitForLine("REPORT");
    expect(report["reason"]).toMatch(/the output of tool does not contain "tool 1.0": tool 2.0/);
    expect(await entriesOf("components")).toEqual([]);
  });

  it("does nothing if it is present", async () => {
    using first = runProgram("obtain-fake.ts", cache, "make");
    await first.waitForLine("REPORT");
    using second = runProgram("obtain-fake.ts", cache, "make");
    expect(await second.waitForLine("REPORT")).toMatchObject({ state: "present" });
    expect(await linesOf("made.log")).toHaveLength(1);
  });
});
