import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, link, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { internal } from "@oaas/foundation";
import { runCommand } from "../process/client-command.ts";

/** A file of an image: its path there, and its content or the file to copy. */
export interface ImageFile {
  readonly path: string;
  readonly content?: string | Uint8Array;
  readonly source?: string;
  readonly executable?: boolean;
}

/** Files of one layer. Images that share the object share the layer. */
export type ImageLayer = readonly ImageFile[];

/** An image to write. */
export interface ImageSpec {
  readonly reference: string;
  readonly layers: readonly ImageLayer[];
  readonly entrypoint: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDir?: string;
}

const USER = "65532:65532";

/** Writes images into one archive for `ctr images import`, without a container engine. The same input, the same bytes. */
export async function writeImageArchive(images: readonly ImageSpec[], file: string): Promise<void> {
  const work = `${file}.work`;
  const archive = join(work, "archive");
  await mkdir(archive, { recursive: true });
  try {
    const layers = new Map<ImageLayer, string>();
    const manifest: object[] = [];
    for (const image of images) {
      for (const layer of image.layers) {
        if (!layers.has(layer)) layers.set(layer, await writeLayer(layer, work, archive));
      }
      const digests = image.layers.map((layer) => layers.get(layer) ?? "");
      const config = JSON.stringify(configOf(image, digests));
      const name = `${createHash("sha256").update(config).digest("hex")}.json`;
      await writeFile(join(archive, name), config);
      manifest.push({ Config: name, RepoTags: [image.reference], Layers: digests.map((digest) => `${digest}.tar`) });
    }
    await writeFile(join(archive, "manifest.json"), JSON.stringify(manifest));
    await makeTar(archive, `${file}.part`);
    await rename(`${file}.part`, file);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function configOf({ entrypoint, env = {}, workingDir }: ImageSpec, digests: readonly string[]): object {
  return {
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    os: "linux",
    config: {
      User: USER,
      Entrypoint: entrypoint,
      Env: Object.entries({ PATH: "/usr/bin", ...env }).map(([name, value]) => `${name}=${value}`),
      ...(workingDir === undefined ? {} : { WorkingDir: workingDir }),
    },
    rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
  };
}

/** Returns the digest of the layer, which is also its file name. */
async function writeLayer(layer: ImageLayer, work: string, archive: string): Promise<string> {
  const root = join(work, "layer");
  await mkdir(root);
  for (const file of layer) {
    const target = join(root, file.path);
    await mkdir(dirname(target), { recursive: true });
    if (file.source === undefined) await writeFile(target, file.content ?? "");
    else await copyFile(file.source, target);
  }
  const executables = layer.filter(({ executable }) => executable).map(({ path }) => join(root, path));
  await run("chmod", ["-R", "u=rwX,go=rX", root]);
  if (executables.length > 0) await run("chmod", ["a+rx", ...executables]);
  const tar = join(work, "layer.tar");
  await makeTar(root, tar);
  const hash = createHash("sha256");
  await pipeline(createReadStream(tar), hash);
  const digest = hash.digest("hex");
  await link(tar, join(archive, `${digest}.tar`));
  await rm(root, { recursive: true });
  await rm(tar);
  return digest;
}

async function makeTar(folder: string, file: string): Promise<void> {
  const constant = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--format=ustar"];
  // Without the folder itself, whose mode would depend on the umask.
  await run("sh", ["-c", 'cd "$0" && exec tar "$@" -- *', folder, "-cf", file, ...constant]);
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const { exitCode, stderr } = await runCommand(command, args, { timeoutMs: 300_000 });
  if (exitCode !== 0) throw internal(`${command} failed while writing an image: ${stderr.trim()}`);
}
