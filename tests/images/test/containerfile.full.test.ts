import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { cacheDir, componentFile, describeWith, makeRunFolder, runCommand, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { annotationsOf, PROGRAMS, settingsOf } from "../../../tools/images/programs.ts";
import { debianMirrors } from "../../../tools/images/root/debian.ts";
import { ROOT } from "../../../tools/tasks/root.ts";
import { makeBaseTree } from "./base-tree.ts";
import { unpackImage } from "./container.ts";
import { listTree } from "./list-tree.ts";

const CONTAINERFILE = path.join(ROOT, "deploy", "images", "Containerfile");
const HOST = process.arch === "arm64" ? "arm64" : "amd64";
const BASE = "localhost/base:test";

/** The part of `buildah inspect` that is compared. */
interface Inspected {
  readonly OCIv1: {
    readonly architecture: string;
    readonly config: {
      readonly User: string;
      readonly Env: readonly string[];
      readonly Entrypoint: readonly string[];
      readonly WorkingDir: string;
      readonly ExposedPorts?: Readonly<Record<string, object>>;
      readonly Labels: Readonly<Record<string, string>>;
    };
  };
}

// Without namespaces and without a daemon: `chroot` isolation and the `vfs` driver need only root.
describeWith(["buildah"], "the Containerfile, built by Buildah", () => {
  let folder: RunFolder;
  beforeAll(async () => {
    folder = await makeRunFolder("containerfile");
    const images = ["images", "--without-archives", "--platform", `linux/${HOST}`, "--out", file("images")];
    await succeed(process.execPath, [path.join(ROOT, "tools", "run.ts"), ...images]);
    await buildBase();
    for (const { name } of PROGRAMS) await buildTarget(name);
  }, 1_800_000);
  afterAll(() => folder.remove(), 600_000);

  const file = (name: string): string => path.join(folder.path, name);

  function buildah(...args: readonly string[]): Promise<string> {
    const storage = ["--root", file("storage"), "--runroot", file("run"), "--storage-driver", "vfs"];
    return succeed(componentFile("buildah"), [...storage, ...args]);
  }

  /** The base of the build stage, with the certificates and the mirrors that this machine uses. */
  async function buildBase(): Promise<void> {
    mkdirSync(file("base"));
    makeBaseTree(file("base/tree"));
    const certificates = process.env["NODE_EXTRA_CA_CERTS"];
    const env = [
      "PATH=/usr/bin HOME=/root OAAS_CACHE_DIR=/cache",
      `OAAS_DEBIAN_MIRROR=${debianMirrors(process.env["OAAS_DEBIAN_MIRROR"]).join(",")}`,
      ...(certificates === undefined ? [] : [`NODE_EXTRA_CA_CERTS=${certificates}`]),
    ];
    writeFileSync(file("base/Containerfile"), `FROM scratch\nCOPY tree /\nENV ${env.join(" ")}\n`);
    await buildah("build", "--isolation", "chroot", "--tag", BASE, file("base"));
  }

  /** Builds one image; the build stage is built once. Only its base differs from the committed file. */
  async function buildTarget(name: string): Promise<void> {
    const text = readFileSync(CONTAINERFILE, "utf8").replace(/^FROM \S+ \S+ AS build$/m, `FROM ${BASE} AS build`);
    expect(text).toContain(`FROM ${BASE} AS build`);
    writeFileSync(file("Containerfile"), text);
    const mounts = [
      [path.join(cacheDir(), "images"), "/cache/images"],
      [path.join(homedir(), ".npm"), "/root/.npm"],
      [path.join(homedir(), ".npmrc"), "/root/.npmrc:ro"],
      ["/etc/npmrc", "/usr/etc/npmrc:ro"],
      ["/etc/ssl", "/etc/ssl:ro"],
    ] as const;
    const volumes = mounts
      .filter(([source]) => existsSync(source))
      .flatMap(([source, target]) => ["--volume", `${source}:${target}`]);
    const isolation = ["--isolation", "chroot", "--network", "host"];
    const files = ["--ignorefile", `${CONTAINERFILE}.dockerignore`, "--file", file("Containerfile")];
    const target = ["--build-arg", `TARGETARCH=${HOST}`, "--target", name, "--tag", `oaas/${name}:test`];
    await buildah("build", "--layers", ...isolation, ...volumes, ...files, ...target, ROOT);
  }

  it.each(PROGRAMS)("$name has the same files, modes and owners as the image of npm run images", async ({ name }) => {
    const container = (await buildah("from", `oaas/${name}:test`)).trim();
    const root = (await buildah("mount", container)).trim();
    const { root: ours } = await unpackImage(path.join(file("images"), name), HOST, file(`root-${name}`));
    const [built, expected] = [await listTree(root), await listTree(ours)];
    expect(expected.length).toBeGreaterThan(50);
    expect(built).toEqual(expected);
  });

  it.each(PROGRAMS)("$name has the same settings and labels", async (program) => {
    const text = await buildah("inspect", "--type", "image", `oaas/${program.name}:test`);
    const { architecture, config } = (JSON.parse(text) as Inspected).OCIv1;
    const { entrypoint, env, ports, user, workingDir } = settingsOf(program);
    expect(architecture).toBe(HOST);
    expect(config).toMatchObject({ User: user, Entrypoint: entrypoint, WorkingDir: workingDir });
    expect(config.Env.toSorted()).toEqual(
      Object.entries(env)
        .map(([name, value]) => `${name}=${value}`)
        .toSorted(),
    );
    expect(Object.keys(config.ExposedPorts ?? {})).toEqual(ports);
    expect(config.Labels).toMatchObject(labelsOf(program));
  });

  it("the command line runs in its image", async () => {
    const container = (await buildah("from", "oaas/cli:test")).trim();
    const run = ["run", "--isolation", "chroot", container, "--"];
    expect(await buildah(...run, "/usr/bin/node", "/opt/oaas/cli.mjs", "--help")).toContain("oaas apply");
  });
});

/** The labels that the Containerfile can know. */
function labelsOf(program: (typeof PROGRAMS)[number]): Readonly<Record<string, string>> {
  const all = Object.entries(annotationsOf(program, { version: "", created: "" }));
  return Object.fromEntries(all.filter(([, value]) => value !== ""));
}

async function succeed(command: string, args: readonly string[]): Promise<string> {
  const env = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { exitCode, stdout, stderr } = await runCommand(command, args, {
    env: Object.fromEntries(env),
    timeoutMs: 890_000,
  });
  if (exitCode !== 0) throw new Error(`${command} ${args.slice(0, 8).join(" ")}: ${(stdout + stderr).slice(-4_000)}`);
  return stdout;
}
