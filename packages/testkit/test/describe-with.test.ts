import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand, type CommandResult } from "../src/index.ts";

const VITEST = join(import.meta.dirname, "../../../node_modules/vitest/vitest.mjs");
const EMPTY_CACHE = join(import.meta.dirname, "no-such-cache");

const runSuite = (env: Record<string, string>, suite = "needs-etcd"): Promise<CommandResult> =>
  runCommand(process.execPath, [VITEST, "run", "--root", join(import.meta.dirname, "programs"), suite], {
    env: { NO_COLOR: "1", OAAS_CACHE_DIR: EMPTY_CACHE, ...env },
  });

it("skips loudly with the remedy when a component is missing", async () => {
  const { exitCode, stdout, stderr } = await runSuite({});
  expect(stdout + stderr).toContain('run "npm run components -- etcd"');
  expect(stdout).toMatch(/Tests\s+1 skipped/);
  expect(exitCode).toBe(0);
});

it("fails instead in CI, where nobody reads skips", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ CI: "true" });
  expect(stdout + stderr).toContain("the real component etcd 3.6.8 is not there");
  expect(stdout).toMatch(/Tests\s+1 failed/);
  expect(exitCode).not.toBe(0);
});

it("a suite for both API servers needs nothing on the embedded one; one for the real one alone says why it is left out", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ KUBE_TARGET: "embedded", CI: "true" }, "on-target");
  expect(stdout).toMatch(/Tests\s+1 passed \| 1 skipped/);
  expect(stderr).toContain(
    'SKIPPED "a suite of etcd\'s own ways [embedded]": there is no etcd behind the embedded API server',
  );
  expect(exitCode).toBe(0);
});

it("a suite for both API servers needs the real components on the real one", async () => {
  const { exitCode, stdout, stderr } = await runSuite({ KUBE_TARGET: "real" }, "on-target");
  expect(stdout).toMatch(/Tests\s+2 skipped/);
  expect(stderr).toContain('SKIPPED "a suite for both [real]": the real component kubernetes');
  expect(exitCode).toBe(0);
});
