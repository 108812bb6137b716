import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const program = (name: string): string => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));

interface ProgramResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Child = ReturnType<typeof spawn>;

/** Runs a program until it exits, for at most 60 s. */
async function run(
  name: string,
  args: readonly string[],
  stdout: "pipe" | number,
  disturb?: (child: Child) => void,
): Promise<ProgramResult> {
  const child = spawn(process.execPath, [program(name), ...args], {
    stdio: ["ignore", stdout, "pipe"],
    timeout: 60_000,
  });
  const texts = { out: "", err: "" };
  child.stderr?.on("data", (chunk: Buffer) => (texts.err += chunk.toString()));
  if (disturb === undefined) child.stdout?.on("data", (chunk: Buffer) => (texts.out += chunk.toString()));
  disturb?.(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
}

describe("an unwritable log does not stop the process", () => {
  test("standard output is closed at the start", async () => {
    const ended = await run("log-lines", ["5000"], "pipe", (child) => child.stdout?.destroy());
    expect(ended).toMatchObject({ code: 0, err: "done\n" });
  });

  test("standard output is closed while writing", async () => {
    const ended = await run("log-lines", ["5000"], "pipe", (child) =>
      child.stdout?.once("data", () => child.stdout?.destroy()),
    );
    expect(ended).toMatchObject({ code: 0, err: "done\n" });
  });

  test.runIf(process.platform === "linux")("the disk is full", async () => {
    const full = openSync("/dev/full", "w");
    const ended = await run("log-lines", ["100"], full).finally(() => closeSync(full));
    expect(ended).toMatchObject({ code: 0, err: "done\n" });
  });
});

test("a slow reader receives every line complete", async () => {
  let text = "";
  const ended = await run("log-lines", ["3000"], "pipe", (child) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      child.stdout?.pause();
      setTimeout(() => child.stdout?.resume(), 1);
    });
  });
  expect(ended).toMatchObject({ code: 0, err: "done\n" });
  const lines = text.trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { index: number }).index)).toEqual(
    Array.from({ length: 3000 }, (_, index) => index),
  );
});

test("a reader that stops reading loses lines after one second and receives only complete lines", async () => {
  let text = "";
  const ended = await run("log-lines", ["5000", "non-blocking"], "pipe", (child) => {
    child.stderr?.once("data", () => child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString())));
  });
  expect(ended).toMatchObject({ code: 0, err: "done\n" });
  const lines = text.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(5000);
  const complete = lines.filter((line) => /^\{.*\}$/.test(line));
  expect(lines.length - complete.length).toBeLessThanOrEqual(1);
});
