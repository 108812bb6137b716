import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, processesWith } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const TOOLS = path.resolve(import.meta.dirname, "..", "..", "..", "tools");
const SERVICE_CODE = 7;
const PATIENCE_MS = 60_000;

/** A service that stops in order and then says so; a second signal would not let it. */
const SERVICE = `
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {
    if (stopping) process.exit(130);
    stopping = true;
    setTimeout(() => { console.log("stopped in order by " + signal); process.exit(${SERVICE_CODE}); }, 600);
  });
  setInterval(() => undefined, 1000);
  console.log("ready");
`;

describe.skipIf(process.platform === "win32")("a task that runs, as npm, the bootstrap and the task start it", () => {
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
    // Whatever a test that failed left running.
    for (const pid of processesWith(root)) process.kill(pid, "SIGKILL");
    rmSync(root, { recursive: true, force: true });
  });

  /** In a process group of its own, so that it can be signalled as a terminal does. */
  const start = async (command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const { npm_lifecycle_event: _, ...own } = process.env;
    const child = spawn(command, args, {
      detached: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...own, ...env },
    });
    const seen = { text: "" };
    child.stdout.on("data", (chunk: Buffer) => (seen.text += chunk.toString()));
    const exited = once(child, "exit") as Promise<[number | null]>;
    await eventually(() => expect(seen.text).toContain("ready"), { timeoutMs: PATIENCE_MS });
    return { child, seen, exited };
  };
  const startBootstrap = () => start(process.execPath, [driver]);
  /** The shell stays between npm and the bootstrap, as dash does. */
  const startByShell = (env: NodeJS.ProcessEnv) => start("sh", ["-c", `'${process.execPath}' '${driver}'; :`], env);

  test.each(["SIGTERM", "SIGHUP", "SIGINT"] as const)(
    "%s to the bootstrap alone",
    async (signal) => {
      const { child, seen, exited } = await startBootstrap();
      child.kill(signal);
      expect((await exited)[0]).toBe(SERVICE_CODE);
      expect(seen.text).toContain("stopped in order");
    },
    PATIENCE_MS,
  );

  test(
    "Ctrl-C, which reaches all of them, comes once",
    async () => {
      const { child, seen, exited } = await startBootstrap();
      process.kill(-child.pid!, "SIGINT");
      expect((await exited)[0]).toBe(SERVICE_CODE);
      expect(seen.text).toContain("stopped in order by SIGINT");
    },
    PATIENCE_MS,
  );

  test(
    "the death of npm's shell, which is all that is left of a signal to npm",
    async () => {
      const { child, seen } = await startByShell({ npm_lifecycle_event: "start" });
      child.kill("SIGTERM");
      await eventually(() => expect(seen.text).toContain("stopped in order"), { timeoutMs: PATIENCE_MS });
      await eventually(() => expect(processesWith(root)).toEqual([]), { timeoutMs: PATIENCE_MS });
    },
    PATIENCE_MS,
  );

  test(
    "a bootstrap that was started by itself outlives its shell",
    async () => {
      const { child, seen } = await startByShell({});
      const before = processesWith(driver).filter((pid) => pid !== child.pid);
      child.kill("SIGKILL");
      await new Promise((resolve) => void setTimeout(resolve, 1_500));
      expect(seen.text).not.toContain("stopped");
      for (const pid of before) process.kill(pid, "SIGTERM");
      await eventually(() => expect(processesWith(root)).toEqual([]), { timeoutMs: PATIENCE_MS });
    },
    PATIENCE_MS,
  );
});
