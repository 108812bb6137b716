import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { readSigningKey, readVerificationKey } from "../images/attest/signature.ts";
import {
  buildProgram,
  createSharedLayers,
  preparePlatform,
  rootOf,
  type BuildInput,
  type PlatformRoot,
} from "../images/build.ts";
import { ImagesError } from "../images/images-error.ts";
import { sha256, type Platform } from "../images/oci/blob.ts";
import type { Layer, RootEntry } from "../images/oci/layer.ts";
import { createArchive, writeLayout } from "../images/oci/layout.ts";
import { archiveName, PROGRAMS, type Program } from "../images/programs.ts";
import { debianMirrors, readDebianPackages } from "../images/root/debian.ts";
import { updatePackages } from "../images/root/update-packages.ts";
import { verifyLayout } from "../images/verify.ts";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { bundle } from "./bundle.ts";
import { capture } from "./command.ts";
import { ROOT } from "./root.ts";

const PLATFORMS: Readonly<Record<string, Platform>> = {
  "linux/amd64": { os: "linux", architecture: "amd64" },
  "linux/arm64": { os: "linux", architecture: "arm64" },
};

const OPTIONS = {
  help: { type: "boolean" },
  out: { type: "string", default: "dist/images" },
  only: { type: "string", multiple: true },
  platform: { type: "string", multiple: true },
  registry: { type: "string" },
  "signing-key": { type: "string" },
  "without-archives": { type: "boolean" },
  "root-file-systems": { type: "boolean" },
  verify: { type: "boolean" },
  "public-key": { type: "string" },
  "update-packages": { type: "boolean" },
} as const;

const HELP = `Builds the images as OCI layouts, without a container engine.

  npm run images                          write dist/images: a layout per image, an archive per image and platform
  npm run images -- --verify              verify the content of the layouts

  --out FOLDER             output folder (default: dist/images)
  --only NAME              only this image: ${PROGRAMS.map(({ name }) => name).join(", ")} (repeatable)
  --platform PLATFORM      only this platform: ${Object.keys(PLATFORMS).join(", ")} (repeatable)
  --registry HOST          registry in the names of the images, such as registry.example:5000
  --signing-key FILE       sign with this private key (PEM, EC P-256 or Ed25519)
  --without-archives       write only the layouts
  --root-file-systems      write only the root file systems, as folders; used by deploy/images/Containerfile
  --verify                 verify existing layouts instead; with --public-key FILE also their signatures
  --update-packages        update the list of Debian packages (needs apt)

SOURCE_DATE_EPOCH sets the recorded time (default: time of the commit), OAAS_DEBIAN_MIRROR the mirrors
of Debian, separated by commas (default: those of apt on this machine), OAAS_BUILDER_ID the builder in the provenance.
`;

/** A mistake in the arguments. */
class UsageError extends ImagesError {}

/** `npm run images`: see the help above. */
export async function images(args: readonly string[]): Promise<number> {
  try {
    const values = readOptions(args);
    if (values.help) {
      console.log(HELP);
      return 0;
    }
    const mirrors = (): readonly string[] => debianMirrors(process.env["OAAS_DEBIAN_MIRROR"]);
    if (values["update-packages"]) {
      await updatePackages(mirrors()[0] ?? "");
      return 0;
    }
    const out = path.resolve(ROOT, values.out);
    const programs = select("image", PROGRAMS, ({ name }) => name, values.only);
    if (values.verify) return verify(out, programs, values["public-key"]);
    const platforms = select("platform", Object.entries(PLATFORMS), ([name]) => name, values.platform);
    return await build(
      out,
      programs,
      platforms.map(([, platform]) => platform),
      values,
      mirrors(),
    );
  } catch (error) {
    if (!(error instanceof ImagesError)) throw error;
    const isUsage = error instanceof UsageError;
    console.error(isUsage ? `${error.message}\nnpm run images -- --help lists the options.` : error.message);
    return isUsage ? 2 : 1;
  }
}

type Options = ReturnType<typeof readOptions>;

function readOptions(args: readonly string[]) {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS });
    if (values["public-key"] !== undefined && !values.verify) throw new UsageError("--public-key needs --verify");
    if (values.registry !== undefined && !/^[a-z0-9.-]+(:\d+)?(\/[a-z0-9._-]+)*$/.test(values.registry)) {
      throw new UsageError(
        `--registry "${values.registry}" is not a host such as registry.example:5000, in lower case`,
      );
    }
    return values;
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error;
  }
}

function select<T>(
  kind: string,
  all: readonly T[],
  nameOf: (one: T) => string,
  wanted?: readonly string[],
): readonly T[] {
  const unknown = (wanted ?? []).filter((name) => !all.some((one) => nameOf(one) === name));
  if (unknown.length > 0) {
    throw new UsageError(`unknown ${kind} ${unknown.join(", ")}; there are ${all.map(nameOf).join(", ")}`);
  }
  return wanted === undefined ? all : all.filter((one) => wanted.includes(nameOf(one)));
}

function verify(out: string, programs: readonly Program[], keyFile: string | undefined): number {
  const key = keyFile === undefined ? undefined : readKey(keyFile, readVerificationKey);
  let failed = 0;
  for (const { name } of programs) {
    const problems = verifyLayout(path.join(out, name), key);
    console.log(
      problems.length === 0 ? `${name}: verified${key ? ", signed" : ""}` : `${name}:\n  ${problems.join("\n  ")}`,
    );
    if (problems.length > 0) failed = 1;
  }
  return failed;
}

async function build(
  out: string,
  programs: readonly Program[],
  platforms: readonly Platform[],
  options: Options,
  mirrors: readonly string[],
): Promise<number> {
  const bundles = mkdtempSync(path.join(tmpdir(), "oaas-bundles-"));
  try {
    const input = await readInput(bundles, options, mirrors);
    await bundle(["--out", bundles, ...programs.flatMap(({ app }) => ["--only", app])]);
    mkdirSync(out, { recursive: true });
    const roots: PlatformRoot[] = [];
    for (const platform of platforms) roots.push(await preparePlatform(input, platform));
    if (options["root-file-systems"]) {
      for (const root of roots) {
        for (const program of programs) {
          const folder = path.join(out, root.platform.architecture, program.name);
          writeTree(folder, rootOf(program, root, input));
          console.log(path.relative(ROOT, folder));
        }
      }
      return 0;
    }
    const shared: (readonly [PlatformRoot, readonly Layer[]])[] = [];
    for (const root of roots) {
      console.log(`compressing the layers of ${root.platform.os}/${root.platform.architecture}`);
      shared.push([root, await createSharedLayers(root)]);
    }
    for (const program of programs) await writeImage(program, input, shared, out, options["without-archives"] !== true);
    writeChecksums(out);
    return 0;
  } finally {
    rmSync(bundles, { recursive: true, force: true });
  }
}

async function readInput(bundles: string, options: Options, mirrors: readonly string[]): Promise<BuildInput> {
  const { version } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
  const keyFile = options["signing-key"];
  const commit = await gitText("rev-parse", "HEAD");
  const isModified = (await gitText("status", "--porcelain")) !== "";
  return {
    root: ROOT,
    lockfile: Lockfile.read(ROOT),
    debian: readDebianPackages(),
    mirrors,
    bundles,
    version,
    created: createdTime(process.env["SOURCE_DATE_EPOCH"] ?? (await gitText("log", "-1", "--format=%ct"))),
    commit: commit === "" ? undefined : `${commit}${isModified ? "-modified" : ""}`,
    registry: options.registry,
    builder: process.env["OAAS_BUILDER_ID"] ?? "https://oaas.io/builders/workstation",
    signingKey: keyFile === undefined ? undefined : readKey(keyFile, readSigningKey),
  };
}

/** Empty if this is not a git repository. */
async function gitText(...args: readonly string[]): Promise<string> {
  const { exitCode, output } = await capture("git", args).catch(() => ({ exitCode: 1, output: "" }));
  return exitCode === 0 ? output.trim() : "";
}

function createdTime(text: string): number {
  if (text === "") return 0;
  if (!/^\d{1,11}$/.test(text)) throw new UsageError(`SOURCE_DATE_EPOCH is "${text}", expected seconds since 1970`);
  return Number(text);
}

function readKey<T>(file: string, parse: (pem: string) => T): T {
  try {
    return parse(readFileSync(path.resolve(ROOT, file), "utf8"));
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

async function writeImage(
  program: Program,
  input: BuildInput,
  shared: readonly (readonly [PlatformRoot, readonly Layer[]])[],
  out: string,
  withArchives: boolean,
): Promise<void> {
  const set = await buildProgram(program, input, shared);
  const folder = path.join(out, program.name);
  writeLayout(folder, set);
  console.log(`${path.relative(ROOT, folder)}: ${set.reference}@${set.index.descriptor.digest}`);
  for (const image of set.images) {
    const { os, architecture } = image.platform;
    const compressed = image.layers.reduce((sum, { blob }) => sum + blob.descriptor.size, 0);
    console.log(`  ${os}/${architecture} ${image.manifest.descriptor.digest} (${(compressed / 1e6).toFixed(1)} MB)`);
    const archive = path.join(out, archiveName(program, input.version, image.platform));
    if (withArchives) writeFileSync(archive, await createArchive(set.reference, image));
  }
}

/** The checksums of the archives, as `sha256sum --check` reads them. */
function writeChecksums(out: string): void {
  const lines = readdirSync(out)
    .filter((name) => name.endsWith(".tar"))
    .toSorted()
    .map((name) => `${sha256(readFileSync(path.join(out, name)))}  ${name}\n`);
  writeFileSync(path.join(out, "SHA256SUMS"), lines.join(""));
}

/** Writes a root file system as files. Owners are set if this is root, as in the build of a Containerfile. */
function writeTree(folder: string, entries: readonly RootEntry[]): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const entry of entries) {
    const place = path.join(folder, entry.path);
    if (entry.type === "link") symlinkSync(entry.target, place);
    else {
      if (entry.type === "folder") mkdirSync(place);
      else writeFileSync(place, entry.bytes);
      chmodSync(place, entry.mode);
    }
    if (process.getuid?.() === 0) lchownSync(place, entry.owner ?? 0, entry.owner ?? 0);
  }
}
