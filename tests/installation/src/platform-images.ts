import { cp, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { buildProgram, createSharedLayers, preparePlatform, type BuildInput } from "../../../tools/images/build.ts";
import { createArchive } from "../../../tools/images/oci/layout.ts";
import { archiveName, PROGRAMS, type Program } from "../../../tools/images/programs.ts";
import { debianMirrors, readDebianPackages } from "../../../tools/images/root/debian.ts";
import { Lockfile } from "../../../tools/supply-chain/lockfile.ts";
import { bundle } from "../../../tools/tasks/bundle.ts";
import { ROOT } from "../../../tools/tasks/root.ts";

const MANAGERS: readonly Program[] = PROGRAMS.filter(({ name }) => name !== "cli");
const PLATFORM = { os: "linux", architecture: process.arch === "arm64" ? "arm64" : "amd64" } as const;

/**
 * Builds the images of both managers for this machine as `npm run images` does, in the present version and in further
 * ones, whose programs report that version. Returns the archives.
 */
export async function writePlatformImages(
  folder: string,
  present: string,
  further: readonly string[] = [],
): Promise<readonly string[]> {
  const bundles = path.join(folder, "bundles");
  await bundle(["--out", bundles, ...MANAGERS.flatMap(({ app }) => ["--only", app])]);
  const input = createInput(bundles, present);
  const root = await preparePlatform(input, PLATFORM);
  const layers = await createSharedLayers(root);
  const archives: string[] = [];
  for (const version of [present, ...further]) {
    const own = version === present ? bundles : await copyBundles(bundles, present, version);
    for (const program of MANAGERS) {
      const { reference, images } = await buildProgram(program, { ...input, bundles: own, version }, [[root, layers]]);
      const [image] = images;
      if (image === undefined) throw new Error(`${reference} has no image for this machine`);
      const archive = path.join(folder, archiveName(program, version, PLATFORM));
      await writeFile(archive, await createArchive(reference, image));
      archives.push(archive);
    }
  }
  return archives;
}

function createInput(bundles: string, version: string): BuildInput {
  return {
    root: ROOT,
    lockfile: Lockfile.read(ROOT),
    debian: readDebianPackages(),
    mirrors: debianMirrors(process.env["OAAS_DEBIAN_MIRROR"]),
    bundles,
    version,
    created: 0,
    commit: undefined,
    registry: undefined,
    builder: "https://oaas.io/builders/test",
    signingKey: undefined,
  };
}

/** Copies the bundles and replaces the version, which is a constant in each program. */
async function copyBundles(bundles: string, present: string, version: string): Promise<string> {
  const copy = `${bundles}-${version}`;
  await cp(bundles, copy, { recursive: true });
  for (const { app } of MANAGERS) {
    const file = path.join(copy, `${app}.mjs`);
    const constant = `\`${present}\``;
    const text = await readFile(file, "utf8");
    if (text.split(constant).length !== 2) throw new Error(`${app}.mjs does not contain its version exactly once`);
    await writeFile(file, text.replace(constant, `\`${version}\``));
  }
  return copy;
}
