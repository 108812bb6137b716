import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand, type CommandResult } from "../src/index.ts";

const VITEST = join(import.meta.dirname, "../../../node_modules/vitest/vitest.mjs");
const EMPTY_CACHE = join(import.meta.dirname, "no-such-cache");

const runSuite = (env: Record<string, string>, suite = "needs-etcd"): Promise<CommandResult> =>
  runCommand(process.execPath, [VITEST, "run", "--root", join(import.meta.dirname, "programs"), suite], {
    env: { NO_COLOR: "1", OAAS_CACHE_DIR: EMPTY_CACHE, ...env },
  });

it("skips a suite and prints the fix when a component is missing", async () => {
  const { exitCode, stdout, stderr } = await runSuite({});
  expect(stdout + stderr).toContain('run "npm run components -- etcd"');
  expect(stdout).toMatch(/Tests\s+1 skipped/);
  expect(exitCode).toBe(0);
});

it("fails in CI instead of skipping", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ CI: "true" });
  expect(stdout + stderr).toContain("the real component etcd 3.6.8 is missing");
  expect(stdout).toMatch(/Tests\s+1 failed/);
  expect(exitCode).not.toBe(0);
});

it("needs no components on the embedded API server, and prints why a real-only suite is skipped", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ KUBE_TARGET: "embedded", CI: "true" }, "on-target");
  expect(stdout).toMatch(/Tests\s+1 passed \| 1 skipped/);
  expect(stderr).toContain('SKIPPED "a suite about etcd [embedded]": the embedded API server has no etcd');
  expect(exitCode).toBe(0);
});

it("needs real components on the real API server", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ KUBE_TARGET: "real" }, "on-target");
  expect(stdout).toMatch(/Tests\s+2 skipped/);
  expect(stderr).toContain('SKIPPED "a suite for both [real]": the real component kubernetes');
  expect(exitCode).toBe(0);
});
