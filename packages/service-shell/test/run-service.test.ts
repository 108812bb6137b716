import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { runCommand } from "@oaas/testkit";
import { afterEach, describe, expect, test } from "vitest";

const ECHO = path.join(import.meta.dirname, "programs", "echo.ts");
const runProgram = (...args: string[]) => runCommand(process.execPath, [ECHO, ...args]);

test("--help and --print-config start nothing", async () => {
  const help = await runProgram("--help");
  expect(help).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("ECHO_MODE") as string });
  const printed = await runProgram("--print-config", "--echo-mode=hang");
  expect(printed).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ECHO_MODE.*hang/) as string });
  expect(help.stdout + printed.stdout).not.toContain("up");
});

test.each([
  { args: ["--echo-mode=odd"], message: /ECHO_MODE.*must be one of/, case: "an invalid value names its variable" },
  {
    args: ["--echo-mode=reject"],
    message: /^echo is not available\n$/,
    case: "a fault prints its message without a stack",
  },
  {
    args: ["--echo-mode=throw"],
    message: /programming error\n\s+at .*echo\.ts/,
    case: "a programming error prints its stack",
  },
])("a failed start exits 1: $case", async ({ args, message }) => {
  const { exitCode, stderr } = await runProgram(...args);
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(message);
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

  async function startProgram(
    mode: string,
  ): Promise<{ until: (message: string) => Promise<void>; ended: Promise<unknown[]> }> {
    child = spawn(process.execPath, [ECHO, `--echo-mode=${mode}`, "--log-format=json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "close");
    let text = "";
    let check = (): void => undefined;
    child.stdout?.on("data", (chunk: Buffer) => {
      text += String(chunk);
      check();
    });
    const until = (message: string): Promise<void> =>
      new Promise((resolve) => {
        check = () => text.includes(`"message":"${message}"`) && resolve();
        check();
      });
    await until("up");
    return { until, ended };
  }

  test.each(["SIGTERM", "SIGINT"] as const)("%s stops the service and exits 0", async (signal) => {
    const { until, ended } = await startProgram("ok");
    child.kill(signal);
    await until("closed");
    expect(await ended).toEqual([0, null]);
  });

  test("a second signal exits immediately", async () => {
    const { until, ended } = await startProgram("hang");
    child.kill("SIGTERM");
    await until("stopping service");
    child.kill("SIGTERM");
    expect(await ended).toEqual([130, null]);
  });

  test("a failed stop is logged and exits 1", async () => {
    const { until, ended } = await startProgram("fail-to-stop");
    child.kill("SIGTERM");
    await until("stop service failed");
    expect(await ended).toEqual([1, null]);
  });
});
