import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { startStack, end } from "./stack-process.ts";

/** How a start shows itself on a terminal and without one, and how it ends when it is told to in the middle. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-screen-"));
const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");
const CLI = path.resolve(import.meta.dirname, "..", "..", "cli", "src", "main.ts");
const SCRIPT = "/usr/bin/script";

afterAll(() => {
  // Whatever a test that failed left running.
  for (const pid of processesWith(folder)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** The program with pipes, or on a terminal of its own; what it writes is kept. */
function run(flags: readonly string[], { isOnTerminal = false } = {}) {
  const words = [process.execPath, MAIN, "--ports=0", ...flags];
  const [command = "", ...args] = isOnTerminal
    ? [SCRIPT, "-qefc", words.map((word) => `'${word}'`).join(" "), "/dev/null"]
    : words;
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TERM: "xterm", COLUMNS: "120", LINES: "50", NO_COLOR: "" },
  });
  const seen = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (seen.text += chunk.toString()));
  }
  return { child, seen, exited: once(child, "exit") as Promise<[number | null]> };
}

describe.skipIf(!existsSync(SCRIPT))("on a terminal", () => {
  test.each([
    ["q", "q"],
    ["Ctrl-C", "\u0003"],
  ])("one screen: progress, then how everything is; l shows the logs, %s stops in order", async (name, key) => {
    const dataDir = path.join(folder, `terminal-${name}`);
    const { child, seen, exited } = run(["--no-cluster", `--data=${dataDir}`], { isOnTerminal: true });
    await eventually(() => expect(seen.text).toContain("Stop      Ctrl-C"), { timeoutMs: 120_000 });
    expect(seen.text, "it was drawn over the progress").toContain("\u001B[J");
    expect(seen.text).toContain("Starting the OaaS local stack");
    expect(seen.text).toMatch(/●.* Package manager +http:\/\/127\.0\.0\.1:\d+/);
    expect(seen.text, "no log line disturbs it").not.toMatch(/INFO|"level"/);
    child.stdin.write("l");
    await eventually(() => expect(seen.text).toContain("Logs (l hides them)"));
    child.stdin.write(key);
    expect((await exited)[0], seen.text).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
  });
});

describe("without a terminal", () => {
  test("plain lines, the last says ready; --logs shows what every part logs", async () => {
    const dataDir = path.join(folder, "plain");
    const { child, seen, exited } = run(["--no-cluster", "--logs", `--data=${dataDir}`]);
    await eventually(() => expect(seen.text).toMatch(/^ready: http:\/\/127\.0\.0\.1:\d+$/m), { timeoutMs: 120_000 });
    expect(seen.text).toMatch(/^starting: package manager$/m);
    expect(seen.text).not.toContain("\u001B");
    const url = /^ready: (\S+)$/m.exec(seen.text)?.[1] ?? "";
    await fetch(`${url}/api/v1/packages/none`, { method: "DELETE" });
    await eventually(() => expect(seen.text).toMatch(/audit .*deletePackage/));
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
  });

  test("Ctrl-C in the middle of the start ends it in order, and the next start finds a whole folder", async () => {
    const dataDir = path.join(folder, "interrupted");
    const { child, seen, exited } = run([`--data=${dataDir}`, "--clusters=2"]);
    await eventually(() => expect(seen.text).toContain("installing our kinds"), { timeoutMs: 120_000 });
    child.kill("SIGINT");
    expect((await exited)[0], seen.text).toBe(0);
    expect(seen.text).not.toContain("ready:");
    expect(existsSync(path.join(dataDir, "stack.json")), "the word it left is taken back").toBe(false);
    expect(processesWith(dataDir)).toEqual([]);
    const next = await startStack(dataDir, ["--clusters=2"]);
    expect(next.start).toBe(2);
    expect(await end(next, "SIGTERM")).toBe(0);
  });

  test("data of a newer version is refused with what to do, and is not touched", async () => {
    const dataDir = path.join(folder, "newer");
    mkdirSync(dataDir);
    const database = new DatabaseSync(path.join(dataDir, "store.sqlite"));
    database.exec("PRAGMA application_id = 0x4f616153; PRAGMA user_version = 99; CREATE TABLE future (x)");
    database.close();
    const { seen, exited } = run(["--no-cluster", `--data=${dataDir}`]);
    expect((await exited)[0]).toBe(1);
    expect(seen.text).toContain("schema version 99");
    expect(seen.text).toMatch(/Start it with the version that wrote it, .*--data=.*oaas reset/);
  });
});

describe("oaas up in a terminal's foreground", () => {
  const startBy = async (dataDir: string) => {
    const child = spawn(
      process.execPath,
      [CLI, "up", "--no-cluster", "--headless", "-o", "json", "--ports", "0", "--data", dataDir],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString()));
    await eventually(() => expect(said).toContain('"status":"ready"'), { timeoutMs: 120_000 });
    return { child, exited: once(child, "exit") as Promise<[number | null]> };
  };

  test("a signal stops the stack in order, and the command ends with its code", async () => {
    const dataDir = path.join(folder, "foreground");
    const { child, exited } = await startBy(dataDir);
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
    expect(existsSync(path.join(dataDir, "stack.json"))).toBe(false);
  });

  test("the stack ends also when the command is killed", async () => {
    const dataDir = path.join(folder, "killed");
    const { child, exited } = await startBy(dataDir);
    child.kill("SIGKILL");
    await exited;
    await eventually(() => expect(processesWith(dataDir)).toEqual([]));
    expect(existsSync(path.join(dataDir, "stack.json")), "in order").toBe(false);
  });
});
