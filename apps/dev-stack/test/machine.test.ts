import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { end, oaas, startStack, type StackProcess } from "./stack-process.ts";

/** What a machine does to a running stack: its disk gets full, its clock is set back. */
const folder = mkdtempSync(path.join(tmpdir(), "oaas-machine-"));
const COUNTER = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const CLOCK = path.join(import.meta.dirname, "programs", "movable-clock.mjs");
const PATIENCE = { timeoutMs: 120_000 };

afterAll(() => {
  // Whatever a test that failed left running.
  for (const pid of processesWith(folder)) process.kill(pid, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function ask(stack: StackProcess, method: string, at: string, body?: string): Promise<Answer> {
  const response = await fetch(`${stack.url}/api/v1${at}`, {
    method,
    ...(body === undefined ? {} : { body, headers: { "content-type": "application/yaml" } }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

const sendCounter = (stack: StackProcess): Promise<Answer> =>
  ask(stack, "POST", "/packages", readFileSync(COUNTER, "utf8"));
const deployCounter = (stack: StackProcess): Promise<Answer> =>
  ask(
    stack,
    "POST",
    "/deployments",
    "key: counter\npackage_name: counter\nclass_key: Counter\ntarget_clusters: [edge]\n",
  );
const untilRunning = (stack: StackProcess, key: string): Promise<void> =>
  eventually(
    async () =>
      expect(await ask(stack, "GET", `/deployments/${key}/status`)).toMatchObject({ body: { condition: "Running" } }),
    PATIENCE,
  );
const healthOf = async ({ page_url }: StackProcess): Promise<string> => (await fetch(`${page_url}/health`)).text();

describe("a full disk", () => {
  test("is told, costs nothing that was acknowledged, and is over as soon as there is room", async (context) => {
    if (process.getuid?.() !== 0) context.skip("mounting a small tmpfs needs root");
    const disk = path.join(folder, "disk");
    const dataDir = path.join(disk, "data");
    mkdirSync(disk);
    using _mounted = mountSmall(disk, "64m");
    const flags = ["--clusters=1"];

    const first = await startStack(dataDir, flags);
    expect((await sendCounter(first)).status).toBe(201);
    const filler = fillUp(disk);
    let count = 0;
    const refused = await eventually(async () => {
      const answer = await ask(first, "POST", "/packages", bulky(`bulky-${(count += 1)}`));
      expect(answer.status).not.toBe(201);
      return answer;
    }, PATIENCE);
    expect(refused).toMatchObject({ status: 503, body: { code: "OAAS_STORE_FULL" } });
    expect(await ask(first, "GET", "/packages/counter"), "what is there can be read").toMatchObject({ status: 200 });
    expect(await ask(first, "GET", `/packages/bulky-${count}`), "nothing is half there").toMatchObject({ status: 404 });
    rmSync(filler);
    await eventually(
      async () => expect((await ask(first, "POST", "/packages", bulky("after"))).status).toBe(201),
      PATIENCE,
    );
    await deployCounter(first);
    await untilRunning(first, "counter");
    expect(await end(first, "SIGTERM"), "it stops in order").toBe(0);

    const again = fillUp(disk);
    await expect(startStack(dataDir, flags)).rejects.toThrow(/full.*\n?.*Make room.*--data=.*nothing was lost/);
    const detached = await oaas(["up", "--detach", "--clusters", "1", "--ports", "0", "--data", dataDir]);
    expect(detached).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/full/) });
    rmSync(again);

    const second = await startStack(dataDir, flags);
    expect(await ask(second, "GET", "/packages/after")).toMatchObject({ status: 200 });
    await untilRunning(second, "counter");
    await untilRunning(second, "shop-order");
    expect(await end(second, "SIGTERM")).toBe(0);
  }, 300_000);
});

describe("a clock that is set back", () => {
  test("by two days while it runs, and by another before the next start: told, nothing stops, nothing is lost", async () => {
    const dataDir = path.join(folder, "clock");
    const flags = ["--clusters=1"];
    const first = await startStack(dataDir, flags, withClock(2));
    expect((await sendCounter(first)).status).toBe(201);
    first.child.kill("SIGUSR2");
    expect((await deployCounter(first)).status).toBe(200);
    await untilRunning(first, "counter");
    expect(JSON.parse(await healthOf(first))).toMatchObject({ status: "healthy" });
    expect(await end(first, "SIGTERM")).toBe(0);

    const second = await startStack(dataDir, flags, withClock(-1));
    expect(second.start).toBe(2);
    expect(second.said).toContain("The clock says it is earlier than at the last start");
    expect(JSON.parse(await healthOf(second))).toMatchObject({ status: "healthy" });
    await untilRunning(second, "counter");
    expect((await ask(second, "DELETE", "/deployments/counter")).status).toBe(200);
    await eventually(async () => expect((await ask(second, "DELETE", "/packages/counter")).status).toBe(204), PATIENCE);
    expect(await end(second, "SIGTERM")).toBe(0);
  }, 300_000);
});

const DAY_MS = 86_400_000;

/** A machine whose clock is so many days off, until SIGUSR2 sets it right. */
function withClock(days: number): Record<string, string> {
  return { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_SHIFT_MS: String(days * DAY_MS) };
}

/** A package that takes room. */
function bulky(name: string): string {
  return `name: ${name}\nversion: 1.0.0\nmetadata: { description: "${"x".repeat(20_000)}" }\nclasses: []\nfunctions: []\n`;
}

function mountSmall(at: string, size: string): Disposable {
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

/** Takes all room that is left, to the last byte; answers what to remove. */
function fillUp(disk: string): string {
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
