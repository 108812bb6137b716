import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import {
  componentFile,
  describeWith,
  makeRunFolder,
  runCommand,
  type CommandResult,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../../../tools/tasks/root.ts";

const NEXT = "999.1.0";
const CHARTS = ["oaas", "oaas-class-runtime-manager", "oaas-crds", "oaas-data-plane", "oaas-package-manager"];
const IDENTITY = {
  GIT_AUTHOR_NAME: "test",
  GIT_AUTHOR_EMAIL: "test@example.test",
  GIT_COMMITTER_NAME: "test",
  GIT_COMMITTER_EMAIL: "test@example.test",
};

describeWith(["helm"], "a release from a clone", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("release");
    await copyCheckout(clone());
    await succeed("git", "init", "--quiet");
    await commit("chore: copy the working tree");
  });
  afterAll(() => folder.remove());

  const clone = (): string => path.join(folder.path, "clone");
  const read = (name: string): string => readFileSync(path.join(clone(), name), "utf8");

  function run(command: string, ...args: readonly string[]): Promise<CommandResult> {
    const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const env = { ...Object.fromEntries(inherited), ...IDENTITY, HELM: componentFile("helm"), HOME: folder.path };
    return runCommand(command, args, { cwd: clone(), env, timeoutMs: 500_000 });
  }
  async function succeed(command: string, ...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await run(command, ...args);
    if (exitCode !== 0) throw new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`);
    return stdout;
  }
  const task = (...args: readonly string[]): Promise<CommandResult> =>
    run(process.execPath, path.join(clone(), "tools", "run.ts"), ...args);
  const release = (...args: readonly string[]): Promise<CommandResult> =>
    task("release", "--without-images", "--without-plugin", ...args);

  async function commit(subject: string): Promise<void> {
    await succeed("git", "add", "--all");
    await succeed(
      "git",
      "-c",
      "core.hooksPath=/dev/null",
      "commit",
      "--quiet",
      "--message",
      `${subject}\n\nFor a test.`,
    );
  }

  it("is refused before it is prepared", async () => {
    const { exitCode, stderr } = await release();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/not released:\n {2}CHANGELOG\.md has no section for/);
    expect(await succeed("git", "tag", "--list")).toBe("");
  });

  it("--prepare moves the unreleased entries into a section, and changes every version", async () => {
    const before = read("CHANGELOG.md");
    const prepared = await task("release", "--prepare", NEXT);
    expect(prepared.exitCode, prepared.stderr).toBe(0);
    const today = new Date().toISOString().slice(0, 10);
    expect(read("CHANGELOG.md")).toBe(before.replace("## Unreleased\n", `## Unreleased\n\n## ${NEXT} - ${today}\n`));
    const generated = await task("generate");
    expect(generated.exitCode, generated.stderr).toBe(0);
    const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
    const old = version.replaceAll(".", String.raw`\.`);
    const ours = ["deploy", "apps/*/src", "packages/*/src", ":!*.test.ts"];
    const stale = await run("git", "grep", "-nP", String.raw`(?<![\w.])${old}(?![\w.])`, "--", ...ours);
    expect(stale.stdout).toBe("");
    const named = await run("git", "grep", "-nP", `oaas/[a-z-]+:${old}`, "--", "*.md", ":!CHANGELOG.md");
    expect(named.stdout).toBe("");
    for (const app of ["cli", "package-manager"])
      expect(JSON.parse(read(`apps/${app}/package.json`))).toMatchObject({ version: NEXT });
    expect((await task("release", "--prepare", NEXT)).stderr).toContain(`already has a section ${NEXT}`);
  });

  it("is refused while changes are not committed", async () => {
    const { exitCode, stderr } = await release();
    expect(exitCode).toBe(1);
    expect(stderr).toBe("not released:\n  the working tree has changes: commit them\n");
    await commit(`chore: release ${NEXT}`);
  });

  it("writes notes, programs, charts and checksums of that version, and creates the annotated tag", async () => {
    const { exitCode, stdout, stderr } = await release();
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain(`created the tag v${NEXT}`);
    expect(await succeed("git", "cat-file", "-t", `v${NEXT}`)).toBe("tag\n");
    expect(await succeed("git", "rev-parse", `v${NEXT}^{commit}`)).toBe(await succeed("git", "rev-parse", "HEAD"));
    expect(await succeed("git", "status", "--porcelain")).toBe("");

    const out = path.join(clone(), "dist", "release");
    expect(readFileSync(path.join(out, "release-notes.md"), "utf8")).toMatch(/^# OaaS 999\.1\.0\n\n### /);
    expect(readdirSync(path.join(out, "charts")).toSorted()).toEqual(
      CHARTS.map((name) => `${name}-${NEXT}.tgz`).toSorted(),
    );
    const umbrella = await succeed("tar", "-tzf", path.join(out, "charts", `oaas-${NEXT}.tgz`));
    for (const name of CHARTS.slice(1)) expect(umbrella).toContain(`oaas/charts/${name}/Chart.yaml`);
    expect(await succeed(process.execPath, path.join(out, "programs", "cli.mjs"), "--version")).toContain(NEXT);
    expect(readFileSync(path.join(out, "programs", "cli.cdx.json"), "utf8")).toContain(NEXT);
    expect(readFileSync(path.join(out, "programs", "console", "index.html"), "utf8")).toContain("<script");
    expect(readFileSync(path.join(out, "manifests", "compose", "compose.yaml"), "utf8")).toContain(NEXT);
    const checked = await runCommand("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], { cwd: out });
    expect(checked).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it("never moves an existing tag", async () => {
    const before = await succeed("git", "rev-parse", `v${NEXT}`);
    const { exitCode, stderr } = await release();
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`the tag v${NEXT} exists: npm run release -- --prepare with the next version`);
    expect(await succeed("git", "rev-parse", `v${NEXT}`)).toBe(before);
  });
});

/** Copies the files that git tracks or would add, with links to the installed packages. */
async function copyCheckout(target: string): Promise<void> {
  const listed = await runCommand("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], {
    cwd: ROOT,
  });
  for (const file of listed.stdout.split("\0").filter((name) => existsSync(path.join(ROOT, name)) && name !== "")) {
    const to = path.join(target, file);
    mkdirSync(path.dirname(to), { recursive: true });
    copyFileSync(path.join(ROOT, file), to);
  }
  const [installed, linked] = [path.join(ROOT, "node_modules"), path.join(target, "node_modules")];
  mkdirSync(linked);
  for (const name of readdirSync(installed)) {
    const [from, to] = [path.join(installed, name), path.join(linked, name)];
    // Links to the packages of this repository, relative to the folder.
    if (name === "@oaas") cpSync(from, to, { recursive: true, verbatimSymlinks: true });
    else symlinkSync(from, to);
  }
}
