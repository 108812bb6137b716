import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const TOOLS = path.resolve(import.meta.dirname, "..", "..", "..", "tools");
const SERVICE_CODE = 7;
const TIMEOUT_MS = 60_000;

/** A service that shuts down gracefully and prints a message; a second signal ends it at once. */
const SERVICE = `
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {
    if (stopping) process.exit(130);
    stopping = true;
    setTimeout(() => { console.log("graceful shutdown by " + signal); process.exit(${SERVICE_CODE}); }, 600);
  });
  setInterval(() => undefined, 1000);
  console.log("ready");
`;

describe.skipIf(process.platform === "win32")("signals to a task started through npm and the bootstrap", () => {
  const root = mkdtempSync(path.join(tmpdir(), "oaas-hand-over-"));
  const driver = path.join(root, "driver.mjs");

  beforeAll(() => {
    const service = path.join(root, "service.mjs");
    writeFileSync(service, SERVICE);
    mkdirSync(path.join(root, "tools"));
    const command = path.join(TOOLS, "tasks", "command.ts");
    writeFileSync(
      path.join(root, "tools", "run.ts"),
      `import { inherit } from ${JSON.stringify(command)};
       process.exitCode = await inherit(process.execPath, [${JSON.stringify(service)}], { channel: true });`,
    );
    writeFileSync(
      driver,
      `import { handOver } from ${JSON.stringify(path.join(TOOLS, "bootstrap", "hand-over.mjs"))};
       process.exit(await handOver(${JSON.stringify(root)}, process.execPath, []));`,
    );
  });
  afterAll(() => {
    // Processes left by a failed test.
    for (const pid of processesWith(root)) process.kill(pid, "SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });

  /** Starts a new process group, so that a signal reaches all processes as from a terminal. */
  const start = async (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { npm_lifecycle_event: _, ...own } = process.env;
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...own, ...env },
    });
    const output = { text: "" };
    child.stdout.on("data", (chunk: Buffer) => (output.text += chunk.toString()));
    const exited = once(child, "exit") as Promise<[number | null]>;
    await eventually(() => expect(output.text).toContain("ready"), { timeoutMs: TIMEOUT_MS });
    return { child, output, exited };
  };
  const startBootstrap = () => start(process.execPath, [driver]);
  /** Keeps a shell between npm and the bootstrap, as dash does. */
  const startByShell = (env: NodeJS.ProcessEnv) => start("sh", ["-c", `'${process.execPath}' '${driver}'; :`], env);

  test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "%s to the bootstrap is forwarded",
    async (signal) => {
      const { child, output, exited } = await startBootstrap();
      child.kill(signal);
      expect((await exited)[0]).toBe(SERVICE_CODE);
      expect(output.text).toContain("graceful shutdown");
    },
    TIMEOUT_MS,
  );

  test(
    "Ctrl-C in the process group is delivered once",
    async () => {
      const { child, output, exited } = await startBootstrap();
      process.kill(-child.pid!, "SIGINT");
      expect((await exited)[0]).toBe(SERVICE_CODE);
      expect(output.text).toContain("graceful shutdown by SIGINT");
    },
    TIMEOUT_MS,
  );

  test(
    "the end of npm's shell shuts the task down",
    async () => {
      const { child, output } = await startByShell({ npm_lifecycle_event: "start" });
      child.kill("SIGTERM");
      await eventually(() => expect(output.text).toContain("graceful shutdown"), { timeoutMs: TIMEOUT_MS });
      await eventually(() => expect(processesWith(root)).toEqual([]), { timeoutMs: TIMEOUT_MS });
    },
    TIMEOUT_MS,
  );

  test(
    "a bootstrap started without npm survives the end of its shell",
    async () => {
      const { child, output } = await startByShell({});
      const before = processesWith(driver).filter((pid) => pid !== child.pid);
      child.kill("SIGKILL");
      await new Promise((resolve) => void setTimeout(resolve, 1_500));
      expect(output.text).not.toContain("shutdown");
      for (const pid of before) process.kill(pid, "SIGTERM");
      await eventually(() => expect(processesWith(root)).toEqual([]), { timeoutMs: TIMEOUT_MS });
    },
    TIMEOUT_MS,
  );
});
