import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { makeRunFolder, runCommand, type CommandResult, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../tools/tasks/root.ts";

function release(...args: readonly string[]): Promise<CommandResult> {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const all = [path.join(ROOT, "tools", "run.ts"), "release", ...args];
  return runCommand(process.execPath, all, { env: Object.fromEntries(env), timeoutMs: 200_000 });
}

async function git(...args: readonly string[]): Promise<string> {
  return (await runCommand("git", args, { cwd: ROOT })).stdout;
}

describe("npm run release", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("release");
  });
  afterAll(() => folder.remove());

  it("--dry-run writes notes, programs, manifests and checksums, and changes nothing in the repository", async () => {
    const before = [await git("status", "--porcelain"), await git("tag", "--list")];
    const out = path.join(folder.path, "release");
    const { exitCode, stdout, stderr } = await release(
      "--dry-run",
      "--without-images",
      "--without-charts",
      "--without-plugin",
      "--out",
      out,
    );
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toMatch(/dry run: the tag v\d+\.\d+\.\d+ is not created/);
    expect([await git("status", "--porcelain"), await git("tag", "--list")]).toEqual(before);
    expect(readFileSync(path.join(out, "release-notes.md"), "utf8")).toMatch(/^# OaaS \d+\.\d+\.\d+\n\n### /);
    expect(readdirSync(path.join(out, "programs"))).toEqual(
      expect.arrayContaining(["package-manager.mjs", "package-manager.cdx.json", "cli.mjs"]),
    );
    expect(readdirSync(path.join(out, "manifests")).toSorted()).toEqual(["compose", "crds", "systemd"]);
    const checked = await runCommand("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: out });
    expect(checked.exitCode).toBe(0);
    expect(checked.stdout.trim().split("\n").length).toBeGreaterThan(12);
  });

  it("does not delete a folder with other files", async () => {
    const file = path.join(folder.path, "other.txt");
    writeFileSync(file, "kept");
    const { exitCode, stderr } = await release("--dry-run", "--out", folder.path);
    expect(exitCode).toBe(2);
    expect(stderr).toContain("has other files, which would be deleted");
    expect(readFileSync(file, "utf8")).toBe("kept");
  });

  it.each([
    [["--prepare", "next"], /"next" is not a version such as 0\.2\.0/],
    [["--perpare", "1.0.0"], /Unknown option '--perpare'/],
    [["--dry-run", "--download-url", "downloads.example/oaas"], /is not an address such as https:/],
    [["--dry-run", "--download-url", "https://downloads.example/a b"], /is not an address such as https:/],
  ])("%j is rejected and changes nothing", async (args, message) => {
    const before = await git("status", "--porcelain");
    const { exitCode, stderr } = await release(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(message);
    expect(await git("status", "--porcelain")).toBe(before);
  });
});
