import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { runCommand } from "@oaas/testkit";
import { afterEach, describe, expect, test } from "vitest";

const ECHO = path.join(import.meta.dirname, "programs", "echo.ts");
const toEnd = (...args: string[]) => runCommand(process.execPath, [ECHO, ...args]);

test("--help and --print-config start nothing", async () => {
  const help = await toEnd("--help");
  expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("ECHO_MODE") as string });
  const printed = await toEnd("--print-config", "--echo-mode=hangs");
  expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ECHO_MODE.*hangs/) as string });
  expect(help.stdout + printed.stdout).not.toContain("up");
});

test.each([
  { args: ["--echo-mode=odd"], says: /ECHO_MODE.*must be one of/, why: "a wrong value names its variable" },
  { args: ["--echo-mode=refuses"], says: /^there is no echo here\n$/, why: "a refusal is one sentence, no stack" },
  { args: ["--echo-mode=breaks"], says: /a mistake of ours\n\s+at .*echo\.ts/, why: "a mistake of ours says where" },
])("a start that fails exits 1: $why", async ({ args, says }) => {
  const { exitCode, stderr } = await toEnd(...args);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(says);
});

test("logs a warning for each setting that has no effect, and starts", async () => {
  const child = spawn(process.execPath, [ECHO, "--log-format=json"], {
    env: { ...process.env, ECHO_VOLUME: "11" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes('"message":"up"')) break;
  }
  child.kill("SIGKILL");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines).toContainEqual(
    expect.objectContaining({
      level: "warn",
      message: "setting has no effect",
      setting: "ECHO_VOLUME",
      reason: "Echo has no volume control.",
    }),
  );
});

describe("signals", () => {
  let child: ChildProcess;
  afterEach(() => void child.kill("SIGKILL"));

  async function started(
    mode: string,
  ): Promise<{ until: (message: string) => Promise<void>; ended: Promise<unknown[]> }> {
    child = spawn(process.execPath, [ECHO, `--echo-mode=${mode}`, "--log-format=json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    let text = "";
    let look = (): void => undefined;
    child.stdout?.on("data", (chunk: Buffer) => {
      text += String(chunk);
      look();
    });
    const until = (message: string): Promise<void> =>
      new Promise((resolve) => {
        look = () => text.includes(`"message":"${message}"`) && resolve();
        look();
      });
    await until("up");
    return { until, ended };
  }

  test.each(["SIGTERM", "SIGINT"] as const)("%s closes in order and exits 0", async (signal) => {
    const { until, ended } = await started("well");
    child.kill(signal);
    await until("closed");
    expect(await ended).toEqual([0, null]);
  });

  test("a second one does not wait", async () => {
    const { until, ended } = await started("hangs");
    child.kill("SIGTERM");
    await until("the service stops");
    child.kill("SIGTERM");
    expect(await ended).toEqual([130, null]);
  });

  test("a stop that fails is told and exits 1", async () => {
    const { until, ended } = await started("stumbles");
    child.kill("SIGTERM");
    await until("the service did not stop in order");
    expect(await ended).toEqual([1, null]);
  });
});
