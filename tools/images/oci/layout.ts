import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { packTar } from "modern-tar";
import { type Blob, type Descriptor } from "./blob.ts";
import { createIndex, type Artifact, type Image } from "./image.ts";

const LAYOUT = JSON.stringify({ imageLayoutVersion: "1.0.0" });

/** A multi-arch image and the artifacts about it. */
export interface ImageSet {
  /** Name with tag, such as `oaas/cli:0.1.0`. */
  readonly reference: string;
  readonly index: Blob;
  readonly images: readonly Image[];
  readonly artifacts: readonly Artifact[];
}

/** The tag of a reference. The host of a registry may have a port. */
export function tagOf(reference: string): string {
  return reference.slice(reference.lastIndexOf(":") + 1);
}

/** The reference with its registry, which container runtimes resolve an image by. */
export function qualifiedReference(reference: string): string {
  const [first = ""] = reference.split("/", 1);
  const hasRegistry = reference.includes("/") && (first.includes(".") || first.includes(":") || first === "localhost");
  return hasRegistry ? reference : `docker.io/${reference}`;
}

function nameAnnotations(reference: string): Readonly<Record<string, string>> {
  return {
    "org.opencontainers.image.ref.name": tagOf(reference),
    "io.containerd.image.name": qualifiedReference(reference),
  };
}

/** Replaces a folder with an OCI image layout: the index under its tag, and the artifacts about it. */
export function writeLayout(folder: string, { reference, index, images, artifacts }: ImageSet): void {
  const bySubject = Map.groupBy(artifacts, ({ subject }) => subject.digest);
  const referrers = [...bySubject].map(([digest, found]) => ({ digest, blob: createReferrers(found) }));
  const manifests: readonly Descriptor[] = [
    { ...index.descriptor, annotations: nameAnnotations(reference) },
    ...artifacts.map(({ manifest, tag }) => withTag(manifest.descriptor, tag)),
    ...referrers.map(({ digest, blob }) => withTag(blob.descriptor, digest.replace(":", "-"))),
  ];
  const blobs = [
    index,
    ...images.flatMap(blobsOf),
    ...artifacts.flatMap((artifact) => [artifact.manifest, ...artifact.blobs]),
    ...referrers.map(({ blob }) => blob),
  ];
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(path.join(folder, "blobs", "sha256"), { recursive: true });
  for (const blob of blobs) writeFileSync(path.join(folder, blobPath(blob)), blob.bytes);
  writeFileSync(path.join(folder, "index.json"), createIndex(manifests).bytes);
  writeFileSync(path.join(folder, "oci-layout"), LAYOUT);
}

/** The list of artifacts about a manifest, which tools read where there is no referrers API. */
function createReferrers(artifacts: readonly Artifact[]): Blob {
  return createIndex(artifacts.map(({ manifest }) => manifest.descriptor));
}

function withTag(descriptor: Descriptor, tag: string | undefined): Descriptor {
  if (tag === undefined) return descriptor;
  return { ...descriptor, annotations: { ...descriptor.annotations, "org.opencontainers.image.ref.name": tag } };
}

/**
 * The image of one platform as an archive that every container engine loads: an OCI layout, which containerd and Podman
 * read, with the manifest.json of `docker save`, which Docker reads.
 */
export async function createArchive(reference: string, image: Image): Promise<Uint8Array> {
  const manifest = { ...image.manifest.descriptor, platform: image.platform, annotations: nameAnnotations(reference) };
  const saved = [
    { Config: blobPath(image.config), RepoTags: [reference], Layers: image.layers.map(({ blob }) => blobPath(blob)) },
  ];
  const files: (readonly [string, Uint8Array])[] = [
    ["oci-layout", Buffer.from(LAYOUT)],
    ["index.json", createIndex([manifest]).bytes],
    ["manifest.json", Buffer.from(JSON.stringify(saved))],
    ...blobsOf(image).map((blob) => [blobPath(blob), blob.bytes] as const),
  ];
  const header = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) };
  const folders = ["blobs/", "blobs/sha256/"].map((name) => ({
    header: { ...header, name, type: "directory" as const, mode: 0o755, size: 0 },
  }));
  const entries = files.map(([name, body]) => ({
    header: { ...header, name, type: "file" as const, size: body.length },
    body,
  }));
  return packTar([...folders, ...entries]);
}

/** All content of an image. Two layers can be equal. */
function blobsOf({ manifest, config, layers }: Image): readonly Blob[] {
  const all = [manifest, config, ...layers.map(({ blob }) => blob)];
  return [...new Map(all.map((blob) => [blob.descriptor.digest, blob])).values()];
}

function blobPath({ descriptor }: Blob): string {
  return `blobs/${descriptor.digest.replace(":", "/")}`;
}
