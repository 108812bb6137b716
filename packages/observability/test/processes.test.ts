import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const program = (name: string): string => fileURLToPath(new URL(`programs/${name}.ts`, import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Start = ReturnType<typeof spawn>;

/** Runs a program to its end, at most 60 s. */
async function run(
  name: string,
  args: readonly string[],
  stdout: "pipe" | number,
  meddle?: (child: Start) => void,
): Promise<Ended> {
  const child = spawn(process.execPath, [program(name), ...args], {
    stdio: ["ignore", stdout, "pipe"],
    timeout: 60_000,
  });
  const texts = { out: "", err: "" };
  child.stderr?.on("data", (chunk: Buffer) => (texts.err += chunk.toString()));
  if (meddle === undefined) child.stdout?.on("data", (chunk: Buffer) => (texts.out += chunk.toString()));
  meddle?.(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...texts };
}

describe("a log that cannot be written never stops the process", () => {
  test("standard output is closed at once", async () => {
    const ended = await run("log-lines", ["5000"], "pipe", (child) => child.stdout?.destroy());
    expect(ended).toMatchObject({ code: 0, err: "done\n" });
  });

  test("standard output is closed in the middle", async () => {
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

test("a reader that is slow, but reads, gets every line whole", async () => {
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

test("a reader that has stopped reading costs lines and a second, not the process; what it got is whole", async () => {
  let text = "";
  const ended = await run("log-lines", ["5000", "non-blocking"], "pipe", (child) => {
    child.stderr?.once("data", () => child.stdout?.on("data", (chunk: Buffer) => (text += chunk.toString())));
  });
  expect(ended).toMatchObject({ code: 0, err: "done\n" });
  const lines = text.trimEnd().split("\n");
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.length).toBeLessThan(5000);
  const whole = lines.filter((line) => /^\{.*\}$/.test(line));
  expect(lines.length - whole.length).toBeLessThanOrEqual(1);
});

describe("what is loaded", () => {
  const libraries = async (...args: string[]): Promise<string[]> => {
    const ended = await run("loaded-modules", args, "pipe");
    expect(ended).toMatchObject({ code: 0, err: "" });
    return JSON.parse(ended.out) as string[];
  };

  test("no OpenTelemetry SDK while tracing is off", async () => {
    const loaded = await libraries();
    expect(loaded).toEqual(expect.arrayContaining(["pino", "prom-client", "picocolors"]));
    // prom-client itself loads the API, a few interfaces; the SDK and the exporter are what costs.
    expect(loaded.filter((name) => name.includes("opentelemetry"))).toEqual(["@opentelemetry/api"]);
  });

  test("the SDK once an endpoint is set, so that the test above can fail", async () => {
    expect(await libraries("http://127.0.0.1:9")).toContain("@opentelemetry/sdk-trace");
  });
});
