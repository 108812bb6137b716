import { symlinkSync } from "node:fs";
import path from "node:path";
import { componentFile, describeWith, makeRunFolder, runCommand, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";

const BIN = path.resolve(import.meta.dirname, "..", "bin");

describeWith(["kubectl"], "kubectl plug-in", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("kubectl-plugin");
    // As npm and krew install them: links with the names that kubectl looks for.
    symlinkSync(path.join(BIN, "oaas.cjs"), path.join(folder.path, "kubectl-oaas"));
    symlinkSync(path.join(BIN, "kubectl-complete.cjs"), path.join(folder.path, "kubectl_complete-oaas"));
  });
  afterAll(() => folder.remove());

  const kubectl = (...args: string[]) =>
    runCommand(componentFile("kubectl"), args, {
      cwd: folder.path,
      env: { PATH: [folder.path, path.dirname(process.execPath), "/usr/bin", "/bin"].join(path.delimiter) },
      timeoutMs: 100_000,
    });

  test("kubectl oaas runs the command line, with its exit codes", async () => {
    const help = await kubectl("oaas", "--help");
    expect(help).toMatchObject({ exitCode: 0 });
    expect(help.stdout).toContain("oaas apply");
    const wrong = await kubectl("oaas", "aply", "-f", "x.yaml");
    expect(wrong.exitCode).not.toBe(0);
    expect(wrong.stderr).toContain("apply");
  }, 120_000);

  test("kubectl lists it as a plug-in without a warning", async () => {
    const { stdout, stderr } = await kubectl("plugin", "list");
    expect(stdout).toContain(path.join(folder.path, "kubectl-oaas"));
    expect(stderr).not.toMatch(/warning/i);
  }, 120_000);

  test("kubectl completes its commands", async () => {
    const { stdout } = await kubectl("__complete", "oaas", "ap");
    expect(stdout.trimEnd().split("\n")).toEqual(["apply", ":4"]);
    const nested = await kubectl("__complete", "oaas", "get", "dep");
    expect(nested.stdout.split("\n")).toContain("deployments");
  }, 120_000);
});
