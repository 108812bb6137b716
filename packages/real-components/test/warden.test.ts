import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandLine, describeWith, processesWith } from "@oaas/testkit";
import {
  eventually,
  freePorts,
  makeRunFolder,
  onFreePorts,
  startFailure,
  startProcess,
  untilReady,
} from "../src/index.ts";
import { runProgram } from "./child-script.ts";

/** Finds the etcd process of a program. */
function etcdBehind(endpoint: string): { pid: number; folder: string } {
  const [pid = 0] = processesWith(`--listen-client-urls=${endpoint} `);
  const folder = /--data-dir=(\S+)\/m1 /.exec(commandLine(pid))?.[1] ?? "";
  expect(existsSync(folder)).toBe(true);
  return { pid, folder };
}

async function goneWithoutTrace({ pid, folder }: { pid: number; folder: string }): Promise<void> {
  await eventually(() => commandLine(pid) === "" && !existsSync(folder), { what: "etcd and its folder to be gone" });
  expect(processesWith(folder)).toEqual([]);
}

describeWith(["etcd"], "leaves no processes", () => {
  it("when the test process is killed with -9", async () => {
    using script = runProgram("etcd-and-wait.ts");
    const etcd = etcdBehind(String((await script.waitForLine("READY"))["endpoint"]));
    script.child.kill("SIGKILL");
    await goneWithoutTrace(etcd);
  });

  it("when the test runner is killed with -9 and its worker survives", async () => {
    using script = runProgram("runner.ts");
    const ready = await script.waitForLine("READY");
    const worker = Number(ready["pid"]);
    try {
      const etcd = etcdBehind(String(ready["endpoint"]));
      script.child.kill("SIGKILL");
      await goneWithoutTrace(etcd);
      expect(commandLine(worker)).toContain("etcd-and-wait");
    } finally {
      process.kill(worker, "SIGKILL");
    }
  });
});

describe("a process under test", () => {
  const sh = async (script: string, folder: string) =>
    startProcess({ name: "it", command: "/bin/sh", args: ["-c", script], cwd: folder, logFile: join(folder, "log") });

  it("is killed if it ignores SIGTERM", async () => {
    const folder = await makeRunFolder("test");
    const stubborn = await sh("trap '' TERM; echo up; while :; do sleep 0.05; done", folder.path);
    await untilReady(stubborn, async () => (await stubborn.logTail()).includes("up"));
    expect(await stubborn.stop(50)).toEqual({ code: null, signal: "SIGKILL" });
    await folder.remove();
  });

  it("ends with its whole process group", async () => {
    const folder = await makeRunFolder("test");
    const parent = await sh("sleep 61.25 & echo up; wait", folder.path);
    await untilReady(parent, async () => (await parent.logTail()).includes("up"));
    await parent.stop(0);
    await eventually(() => processesWith("sleep 61.25").length === 0, { what: "the child to be gone" });
    await folder.remove();
  });

  it("reports the end of its log and keeps its folder if it ends before it is ready", async () => {
    const folder = await makeRunFolder("test");
    const failing = await sh("echo the disk has feelings; exit 3", folder.path);
    const thrown = await untilReady(failing, async () => false).catch((error: unknown) => error);
    const failure = await startFailure("it", folder, thrown);
    expect(failure.message).toMatch(/it ended with exit code 3[\s\S]*the disk has feelings[\s\S]*files are in \/\S+/);
    expect(await readFile(join(folder.path, "log"), "utf8")).toContain("feelings");
    await rm(folder.path, { recursive: true });
  });

  it("reports a failed start", async () => {
    const folder = await makeRunFolder("test");
    const starting = startProcess({
      command: "/does/not/exist",
      args: [],
      cwd: folder.path,
      logFile: join(folder.path, "log"),
    });
    await expect(starting).rejects.toThrow(/exist could not be started: .*ENOENT/);
    await folder.remove();
  });
});

describe("ports", () => {
  it("are free, distinct and outside the ephemeral range", async () => {
    const ports = await freePorts(50);
    expect(new Set(ports).size).toBe(50);
    const low = Number((await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8")).split(/\s+/)[0]);
    expect(ports.filter((port) => port >= low)).toEqual([]);
  });

  it("are chosen again if one is in use", async () => {
    const taken: number[] = [];
    const blocker = createServer();
    const folder = await makeRunFolder("test");
    const used = await onFreePorts(1, async ([port = 0]) => {
      taken.push(port);
      if (taken.length === 1) await new Promise<void>((resolve) => blocker.listen(port, "127.0.0.1", resolve));
      const script = `require("net").createServer().listen(${port}, "127.0.0.1", () => console.log("LISTENING"))`;
      const logFile = join(folder.path, `log-${port}`);
      const server = await startProcess({ command: process.execPath, args: ["-e", script], cwd: folder.path, logFile });
      await untilReady(server, async () => (await server.logTail()).includes("LISTENING"));
      await server.stop(0);
      return port;
    });
    blocker.close();
    await folder.remove();
    expect(taken).toHaveLength(2);
    expect(used).toBe(taken[1]);
  });
});
