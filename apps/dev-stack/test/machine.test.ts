import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { stopStack, oaas, startStack, type StackProcess } from "./stack-process.ts";

/** Machine faults: a full disk and a clock that is set back. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-machine-"));
const COUNTER = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const CLOCK = path.join(import.meta.dirname, "programs", "movable-clock.mjs");
const TIMEOUT = { timeoutMs: 120_000 };

afterAll(() => {
  // Processes left by a failed test.
  for (const pid of processesWith(folder)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function request(stack: StackProcess, method: string, at: string, body?: string): Promise<Answer> {
  const response = await fetch(`${stack.url}/api/v1${at}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/yaml" } }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

const sendCounter = (stack: StackProcess): Promise<Answer> =>
  request(stack, "POST", "/packages", readFileSync(COUNTER, "utf8"));
const deployCounter = (stack: StackProcess): Promise<Answer> =>
  request(
    stack,
    "POST",
    "/deployments",
    "key: counter\npackage_name: counter\nclass_key: Counter\ntarget_clusters: [edge]\n",
  );
const untilRunning = (stack: StackProcess, key: string): Promise<void> =>
  eventually(
    async () =>
      expect(await request(stack, "GET", `/deployments/${key}/status`)).toMatchObject({
        body: { condition: "Running" },
      }),
    TIMEOUT,
  );
const healthOf = async ({ page_url }: StackProcess): Promise<string> => (await fetch(`${page_url}/health`)).text();

describe("a full disk", () => {
  test("is reported, loses no acknowledged write, and ends when space is freed", async (context) => {
    if (process.getuid?.() !== 0) context.skip("mounting a small tmpfs needs root");
    const disk = path.join(folder, "disk");
    const dataDir = path.join(disk, "data");
    mkdirSync(disk);
    using _mounted = mountTmpfs(disk, "64m");
    const flags = ["--clusters=1"];

    const first = await startStack(dataDir, flags);
    expect((await sendCounter(first)).status).toBe(201);
    const filler = fillDisk(disk);
    let count = 0;
    const refused = await eventually(async () => {
      const answer = await request(first, "POST", "/packages", largePackage(`bulky-${(count += 1)}`));
      expect(answer.status).not.toBe(201);
      return answer;
    }, TIMEOUT);
    expect(refused).toMatchObject({ status: 503, body: { code: "OAAS_STORE_FULL" } });
    expect(await request(first, "GET", "/packages/counter"), "existing data can be read").toMatchObject({
      status: 200,
    });
    expect(await request(first, "GET", `/packages/bulky-${count}`), "no partial write").toMatchObject({ status: 404 });
    rmSync(filler);
    await eventually(
      async () => expect((await request(first, "POST", "/packages", largePackage("after"))).status).toBe(201),
      TIMEOUT,
    );
    await deployCounter(first);
    await untilRunning(first, "counter");
    expect(await stopStack(first, "SIGTERM"), "graceful shutdown").toBe(0);

    const again = fillDisk(disk);
    await expect(startStack(dataDir, flags)).rejects.toThrow(/full.*\n?.*Free some space.*--data=.*no data was lost/);
    const detached = await oaas(["up", "--detach", "--clusters", "1", "--ports", "0", "--data", dataDir]);
    expect(detached).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/full/) });
    rmSync(again);

    const second = await startStack(dataDir, flags);
    expect(await request(second, "GET", "/packages/after")).toMatchObject({ status: 200 });
    await untilRunning(second, "counter");
    await untilRunning(second, "shop-order");
    expect(await stopStack(second, "SIGTERM")).toBe(0);
  }, 300_000);
});

describe("a clock that is set back", () => {
  test("is reported and loses no data, at run time and before the next start", async () => {
    const dataDir = path.join(folder, "clock");
    const flags = ["--clusters=1"];
    const first = await startStack(dataDir, flags, withClock(2));
    expect((await sendCounter(first)).status).toBe(201);
    first.child.kill("SIGUSR2");
    expect((await deployCounter(first)).status).toBe(200);
    await untilRunning(first, "counter");
    expect(JSON.parse(await healthOf(first))).toMatchObject({ status: "healthy" });
    expect(await stopStack(first, "SIGTERM")).toBe(0);

    const second = await startStack(dataDir, flags, withClock(-1));
    expect(second.start).toBe(2);
    expect(second.output).toContain("The clock is earlier than at the previous start");
    expect(JSON.parse(await healthOf(second))).toMatchObject({ status: "healthy" });
    await untilRunning(second, "counter");
    expect((await request(second, "DELETE", "/deployments/counter")).status).toBe(200);
    await eventually(
      async () => expect((await request(second, "DELETE", "/packages/counter")).status).toBe(204),
      TIMEOUT,
    );
    expect(await stopStack(second, "SIGTERM")).toBe(0);
  }, 300_000);
});

const DAY_MS = 86_400_000;

/** Shifts the clock of the process by a number of days until SIGUSR2. */
function withClock(days: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_SHIFT_MS: String(days * DAY_MS) };
}

/** A large package. */
function largePackage(name: string): string {
  return `name: ${name}\nversion: 1.0.0\nmetadata: { description: "${"x".repeat(20_000)}" }\nclasses: []\nfunctions: []\n`;
}

function mountTmpfs(at: string, size: string): Disposable {
  const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", at], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`mount failed: ${stderr}`);
  return {
    [Symbol.dispose]: () => {
      for (const pid of processesWith(at)) process.kill(pid, "SIGKILL");
      spawnSync("umount", ["--lazy", at]);
    },
  };
}

/** Fills the disk to the last byte and returns the file to remove. */
function fillDisk(disk: string): string {
  const file = path.join(disk, "filler");
  const fd = openSync(file, "w");
  try {
    for (const size of [2 ** 20, 4096, 1]) fillBy(fd, Buffer.alloc(size));
  } finally {
    closeSync(fd);
  }
  return file;
}

function fillBy(fd: number, piece: Buffer): void {
  try {
    for (;;) if (writeSync(fd, piece) < piece.length) return;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== "ENOSPC") throw thrown;
  }
}
