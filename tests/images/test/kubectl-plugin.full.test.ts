import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  createReadStream,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import {
  componentFile,
  describeWith,
  freePorts,
  makeRunFolder,
  probe,
  runCommand,
  startProcess,
  untilReady,
  type CommandResult,
  type ProcessUnderTest,
  type RunFolder,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../../tools/tasks/root.ts";

const { version: VERSION } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };

describeWith(["kubernetes", "krew"], "the kubectl plug-in of a release", () => {
  let folder: RunFolder;
  let downloads: Server;
  beforeAll(async () => {
    folder = await makeRunFolder("kubectl-plugin-release");
    downloads = serveFolder(file("release"));
    await new Promise<void>((resolve) => downloads.listen(0, "127.0.0.1", resolve));
    const { port } = downloads.address() as AddressInfo;
    await release("--download-url", `http://127.0.0.1:${port}/`, "--out", file("release"));
    // No Node: the archive must bring it.
    linkTools(file("tools"), ["sh", "dirname", "readlink", "cp", "git"]);
    symlinkSync(componentFile("kubectl"), file("tools/kubectl"));
    symlinkSync(componentFile("krew"), file("tools/kubectl-krew"));
  });
  afterAll(async () => {
    downloads.close();
    await folder.remove();
  });

  const file = (name: string): string => path.join(folder.path, name);
  const manifest = (): string => file("release/kubectl-plugin/oaas.yaml");
  const store = (): string => file(`krew/store/oaas/v${VERSION}`);

  function kubectl(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CommandResult> {
    return runCommand(file("tools/kubectl"), args, {
      cwd: folder.path,
      env: {
        HOME: folder.path,
        KREW_ROOT: file("krew"),
        KREW_DEFAULT_INDEX_URI: file("index"),
        PATH: [file("tools"), file("krew/bin")].join(path.delimiter),
        ...env,
      },
      timeoutMs: 120_000,
    });
  }

  it("has a manifest and archives that krew's own check installs for every platform", async () => {
    const checked = await runCommand(componentFile("validate-krew-manifest"), ["-manifest", manifest()], {
      cwd: folder.path,
      env: { HOME: folder.path, PATH: file("tools") },
      timeoutMs: 300_000,
    });
    expect(checked.stderr).toContain("all 3 spec.platforms installed fine");
    expect(checked.exitCode).toBe(0);
  });

  it("is rejected by krew when an archive differs from its checksum", async () => {
    const wrong = file("oaas.yaml");
    writeFileSync(wrong, readFileSync(manifest(), "utf8").replaceAll(/sha256: .*/g, `sha256: ${"a".repeat(64)}`));
    const { exitCode, stderr } = await kubectl(["krew", "install", `--manifest=${wrong}`], {
      KREW_ROOT: file("other"),
    });
    expect(exitCode).not.toBe(0);
    expect(stderr).toMatch(/checksum does not match/);
  });

  describe("installed by krew from an index", () => {
    let manager: ProcessUnderTest;
    let url = "";
    beforeAll(async () => {
      await commitIndex(file("index"), manifest());
      const updated = await kubectl(["krew", "update"]);
      expect(updated.exitCode, updated.stderr).toBe(0);
      const installed = await kubectl(["krew", "install", "oaas"]);
      expect(installed.exitCode, installed.stderr).toBe(0);
      const [port = 0] = await freePorts(1);
      url = `http://127.0.0.1:${port}`;
      manager = await startProcess({
        command: process.execPath,
        args: [file("release/programs/package-manager.mjs")],
        cwd: folder.path,
        logFile: file("package-manager.log"),
        env: { SERVER_HOST: "127.0.0.1", SERVER_PORT: String(port), STORAGE_TYPE: "memory" },
      });
      await untilReady(manager, async () => (await probe(`${url}/readyz`)).status === 200);
    });
    afterAll(async () => void (await manager.stop()));

    it("is linked into the store of krew, and listed without a warning", async () => {
      expect(readlinkSync(file("krew/bin/kubectl-oaas"))).toBe(path.join(store(), "kubectl-oaas"));
      const { stdout, stderr } = await kubectl(["plugin", "list"]);
      expect(stdout).toContain(file("krew/bin/kubectl-oaas"));
      expect(stderr).not.toMatch(/warning/i);
    });

    it("runs without a Node on PATH", async () => {
      const help = await kubectl(["oaas", "--help"]);
      expect(help.stdout).toMatch(new RegExp(`^oaas ${VERSION.replaceAll(".", String.raw`\.`)}: `));
      expect(help.exitCode).toBe(0);
    });

    it("applies and gets objects of a package manager", async () => {
      const example = path.join(ROOT, "examples", "packages", "counter.yaml");
      const applied = await kubectl(["oaas", "apply", "-f", example], { OAAS_PM_URL: url });
      expect(applied.exitCode, applied.stderr).toBe(0);
      const got = await kubectl(["oaas", "get", "packages", "-o", "name"], { OAAS_PM_URL: url });
      expect(got).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/counter/) as string });
      const missing = await kubectl(["oaas", "get", "package", "none"], { OAAS_PM_URL: url });
      expect(missing.exitCode).not.toBe(0);
    });

    it("completes words after the copy that its caveats name, also when the store moves to another version", async () => {
      const caveat = /\$ (cp .*)/.exec(readFileSync(manifest(), "utf8"))?.[1] ?? "";
      const copied = await runCommand("/bin/sh", ["-c", caveat], {
        env: { KREW_ROOT: file("krew"), PATH: file("tools") },
      });
      expect(copied.exitCode, copied.stderr).toBe(0);
      const complete = (): Promise<CommandResult> =>
        kubectl(["__complete", "oaas", "get", "pack"], { OAAS_PM_URL: url });
      expect((await complete()).stdout.trimEnd().split("\n")).toEqual(["packages", "package", ":4"]);
      await runCommand("mv", [store(), `${store()}-next`]);
      await runCommand("ln", ["-sfn", `${store()}-next/kubectl-oaas`, file("krew/bin/kubectl-oaas")]);
      expect((await complete()).stdout.trimEnd().split("\n")).toEqual(["packages", "package", ":4"]);
    });

    it("is removed by krew", async () => {
      const { exitCode, stderr } = await kubectl(["krew", "uninstall", "oaas"]);
      expect(exitCode, stderr).toBe(0);
      expect((await kubectl(["oaas", "--help"])).exitCode).not.toBe(0);
    });
  });

  describe("for macOS", () => {
    const launcher = (): string => file("darwin/kubectl-oaas");
    beforeAll(() => {
      mkdirSync(file("darwin"));
      const archive = file(`release/kubectl-plugin/kubectl-oaas-${VERSION}-darwin.tar.gz`);
      execFileSync("tar", ["-xzf", archive, "-C", file("darwin")]);
    });

    const runWith = (node: string | undefined): Promise<CommandResult> => {
      const place = file(`with-${node === undefined ? "none" : path.basename(node)}`);
      linkTools(place, ["sh", "dirname", "readlink"]);
      if (node !== undefined) copyFileSync(node, path.join(place, "node"));
      return runCommand(launcher(), ["--version"], { env: { HOME: folder.path, PATH: place } });
    };

    it("uses the Node on PATH", async () => {
      const { stdout, exitCode } = await runWith(process.execPath);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(VERSION);
    });

    it("says which Node it needs when there is none, or an older one", async () => {
      expect(await runWith(undefined)).toMatchObject({
        exitCode: 1,
        stderr: "kubectl oaas needs Node 24.15 or later on PATH; found none\n",
      });
      const old = file("old-node");
      writeFileSync(old, '#!/bin/sh\nif [ "$1" = --version ]; then echo v20.1.0; else exit 1; fi\n', { mode: 0o755 });
      expect(await runWith(old)).toMatchObject({
        exitCode: 1,
        stderr: "kubectl oaas needs Node 24.15 or later on PATH; found v20.1.0\n",
      });
    });
  });
});

/** An index of krew is a git repository with the manifests. */
async function commitIndex(index: string, manifest: string): Promise<void> {
  mkdirSync(path.join(index, "plugins"), { recursive: true });
  copyFileSync(manifest, path.join(index, "plugins", path.basename(manifest)));
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.test"];
  for (const args of [
    ["init", "--quiet"],
    ["add", "plugins"],
    [...identity, "commit", "--quiet", "-m", "Add oaas"],
  ]) {
    const { exitCode, stderr } = await runCommand("git", args, { cwd: index });
    if (exitCode !== 0) throw new Error(stderr);
  }
}

/** Serves the files of a folder as downloads. */
function serveFolder(folder: string): Server {
  return createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://127.0.0.1");
    createReadStream(path.join(folder, pathname))
      .once("error", () => response.writeHead(404).end())
      .pipe(response);
  });
}

/** Makes a folder for PATH with nothing but these programs of the machine. */
function linkTools(folder: string, names: readonly string[]): void {
  mkdirSync(folder);
  for (const name of names) {
    const found = execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim();
    symlinkSync(found, path.join(folder, name));
  }
}

async function release(...args: readonly string[]): Promise<void> {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const all = [
    path.join(ROOT, "tools", "run.ts"),
    "release",
    "--dry-run",
    "--without-images",
    "--without-charts",
    ...args,
  ];
  const { exitCode, stdout, stderr } = await runCommand(process.execPath, all, {
    env: Object.fromEntries(env),
    timeoutMs: 600_000,
  });
  if (exitCode !== 0) throw new Error(stdout + stderr);
}
