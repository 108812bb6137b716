import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { startStack, stopStack } from "./stack-process.ts";

/** The output of a start with and without a terminal, and the shutdown during a start. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-screen-"));
const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");
const CLI = path.resolve(import.meta.dirname, "..", "..", "cli", "src", "main.ts");
const SCRIPT = "/usr/bin/script";

afterAll(() => {
  // Processes left by a failed test.
  for (const pid of processesWith(folder)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the program with pipes or in a pseudo-terminal and captures its output. */
function run(flags: readonly string[], { isOnTerminal = false, preload = "" } = {}) {
  const words = [process.execPath, ...(preload === "" ? [] : ["--import", preload]), MAIN, "--ports=0", ...flags];
  // Prints the settings of the terminal after the program has ended.
  const line = `${words.map((word) => `'${word}'`).join(" ")}; code=$?; echo "end:" $(stty -a); exit $code`;
  const [command = "", ...args] = isOnTerminal ? [SCRIPT, "-qefc", line, "/dev/null"] : words;
  const child = spawn(command, args, {
    stdio: ["pipe", "pipe", "pipe"],
    env: { ...process.env, TERM: "xterm", COLUMNS: "120", LINES: "50", NO_COLOR: "" },
  });
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (output.text += chunk.toString()));
  }
  return { child, output, exited: once(child, "exit") as Promise<[number | null]> };
}

describe.skipIf(!existsSync(SCRIPT))("on a terminal", () => {
  test.each([
    ["q", "q"],
    ["Ctrl-C", "\u0003"],
  ])(
    "shows progress, then the state; keys open logs, help, details and a filter, %s shuts down gracefully",
    async (name, key) => {
      const dataDir = path.join(folder, `terminal-${name}`);
      const { child, output, exited } = run(["--no-cluster", `--data=${dataDir}`], { isOnTerminal: true });
      await eventually(() => expect(output.text).toContain("Stop      Ctrl-C"), { timeoutMs: 120_000 });
      expect(output.text, "the screen replaces the progress").toContain("\u001B[J");
      expect(output.text).toContain("Starting the OaaS local stack");
      expect(output.text).toMatch(/●.* Package manager +http:\/\/127\.0\.0\.1:\d+/);
      expect(output.text, "no log lines").not.toMatch(/INFO|"level"/);
      child.stdin.write("l");
      await eventually(() => expect(output.text).toContain("Logs (press l to hide)"));
      child.stdin.write("?");
      await eventually(() => expect(output.text).toContain("Help (? or Esc closes it)"));
      child.stdin.write("\u001B[B\u001B[B\r");
      await eventually(() => expect(output.text).toMatch(/Package manager \(Esc closes it\)[^]*\$ npx oaas doctor/));
      child.stdin.write("\u001B");
      child.stdin.write("/store\r");
      await eventually(() => expect(output.text).toMatch(/Filter: store .*\(1 shown\)/));
      child.stdin.write(key);
      expect((await exited)[0], output.text).toBe(0);
      expect(output.text, "the terminal echoes and waits for lines again").toMatch(/end: .* icanon .* echo /);
      expect(processesWith(dataDir)).toEqual([]);
    },
  );

  test("restores the terminal after a crash", async () => {
    const dataDir = path.join(folder, "crash");
    const crash = `process.on("SIGUSR2", () => setImmediate(() => { throw new Error("crash for a test"); }));`;
    const { child, output, exited } = run(["--no-cluster", `--data=${dataDir}`], {
      isOnTerminal: true,
      preload: `data:text/javascript,${encodeURIComponent(crash)}`,
    });
    await eventually(() => expect(output.text).toContain("Keys      "), { timeoutMs: 120_000 });
    const pid = processesWith(dataDir).find((each) => each !== child.pid && isNode(each));
    process.kill(pid ?? 0, "SIGUSR2");
    await exited;
    expect(output.text).toContain("crash for a test");
    expect(output.text).toMatch(/end: .* icanon .* echo /);
  });
});

function isNode(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`) === realpathSync(process.execPath);
}

describe("without a terminal", () => {
  test("prints plain lines, the last one ready; --logs prints the logs of all components", async () => {
    const dataDir = path.join(folder, "plain");
    const { child, output, exited } = run(["--no-cluster", "--logs", `--data=${dataDir}`]);
    await eventually(() => expect(output.text).toMatch(/^ready: http:\/\/127\.0\.0\.1:\d+$/m), { timeoutMs: 120_000 });
    expect(output.text).toMatch(/^starting: package manager$/m);
    expect(output.text).not.toContain("\u001B");
    const url = /^ready: (\S+)$/m.exec(output.text)?.[1] ?? "";
    await fetch(`${url}/api/v1/packages/none`, { method: "DELETE" });
    await eventually(() => expect(output.text).toMatch(/audit .*deletePackage/));
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
  });

  test("Ctrl-C during the start shuts down gracefully, and the next start succeeds", async () => {
    const dataDir = path.join(folder, "interrupted");
    const { child, output, exited } = run([`--data=${dataDir}`, "--clusters=2"]);
    await eventually(() => expect(output.text).toContain("installing CRDs"), { timeoutMs: 120_000 });
    child.kill("SIGINT");
    expect((await exited)[0], output.text).toBe(0);
    expect(output.text).not.toContain("ready:");
    expect(existsSync(path.join(dataDir, "stack.json")), "the record is removed").toBe(false);
    expect(processesWith(dataDir)).toEqual([]);
    const next = await startStack(dataDir, ["--clusters=2"]);
    expect(next.start).toBe(2);
    expect(await stopStack(next, "SIGTERM")).toBe(0);
  });

  test("rejects data of a newer version with a fix and does not change it", async () => {
    const dataDir = path.join(folder, "newer");
    mkdirSync(dataDir);
    const database = new DatabaseSync(path.join(dataDir, "store.sqlite"));
    database.exec("PRAGMA application_id = 0x4f616153; PRAGMA user_version = 99; CREATE TABLE future (x)");
    database.close();
    const { output, exited } = run(["--no-cluster", `--data=${dataDir}`]);
    expect((await exited)[0]).toBe(1);
    expect(output.text).toContain("schema version 99");
    expect(output.text).toMatch(/Start it with the version that wrote it, .*--data=.*oaas reset/);
  });
});

describe("oaas up in the foreground", () => {
  const startForeground = async (dataDir: string) => {
    const child = spawn(
      process.execPath,
      [CLI, "up", "--no-cluster", "--headless", "-o", "json", "--ports", "0", "--data", dataDir],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    await eventually(() => expect(output).toContain('"status":"ready"'), { timeoutMs: 120_000 });
    return { child, exited: once(child, "exit") as Promise<[number | null]> };
  };

  test("a signal shuts the stack down gracefully, and the command returns its exit code", async () => {
    const dataDir = path.join(folder, "foreground");
    const { child, exited } = await startForeground(dataDir);
    child.kill("SIGTERM");
    expect((await exited)[0]).toBe(0);
    expect(processesWith(dataDir)).toEqual([]);
    expect(existsSync(path.join(dataDir, "stack.json"))).toBe(false);
  });

  test("the stack stops when the command is killed", async () => {
    const dataDir = path.join(folder, "killed");
    const { child, exited } = await startForeground(dataDir);
    child.kill("SIGKILL");
    await exited;
    await eventually(() => expect(processesWith(dataDir)).toEqual([]));
    expect(existsSync(path.join(dataDir, "stack.json")), "graceful shutdown").toBe(false);
  });
});
