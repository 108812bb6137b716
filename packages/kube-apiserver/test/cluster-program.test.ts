import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { eventually, runCommand } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const MAIN = path.resolve(import.meta.dirname, "..", "src", "main.ts");

describe("npm run cluster", () => {
  let folder: string;
  const started: ChildProcess[] = [];
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "oaas-cluster-"));
  });
  afterAll(async () => {
    for (const child of started) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts the program; returns its address and a function that stops it. */
  const start = async (): Promise<{ url: string; stop: () => Promise<unknown> }> => {
    const child = spawn(process.execPath, [MAIN, "--port=0", `--data=${folder}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    started.push(child);
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /cluster at (?<url>http:\S+)/.exec(line)?.groups?.["url"];
      if (url === undefined) continue;
      child.stdout.resume();
      return {
        url,
        stop: async () => {
          child.kill("SIGTERM");
          return (await once(child, "exit"))[0] as unknown;
        },
      };
    }
    throw new Error("the program exited before it was ready");
  };

  test("serves nodes, shuts down gracefully, and restores its objects", async () => {
    const first = await start();
    // As in every cluster, nodes register once the server is ready.
    const nodes = async () => ((await (await fetch(`${first.url}/api/v1/nodes`)).json()) as { items: unknown[] }).items;
    await eventually(async () => (await nodes()).length === 3);
    const made = await fetch(`${first.url}/api/v1/namespaces/default/configmaps`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "kept" }, data: { a: "b" } }),
    });
    expect(made.status).toBe(201);
    expect(await first.stop()).toBe(0);
    const second = await start();
    expect(await (await fetch(`${second.url}/api/v1/namespaces/default/configmaps/kept`)).json()).toMatchObject({
      data: { a: "b" },
    });
    await second.stop();
  });

  test.each([
    [["--prot=1"], "--prot"],
    [["--port=99999"], "from 0 to 65535"],
    [["--nodes=none"], "--nodes=N"],
    [["extra"], "--help lists the flags"],
  ])("rejects %j by name", async (args, words) => {
    const { exitCode, stderr } = await runCommand(process.execPath, [MAIN, ...args]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("    at ");
  });

  test("reports a port in use", async () => {
    const taken = await start();
    const { port } = new URL(taken.url);
    const { exitCode, stderr } = await runCommand(process.execPath, [
      MAIN,
      `--port=${port}`,
      "--memory",
      `--data=${folder}/other`,
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(port);
    await taken.stop();
  });
});
