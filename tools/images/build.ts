import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import type { Lockfile } from "../supply-chain/lockfile.ts";
import type { Sbom } from "../supply-chain/sbom.ts";
import { createImageSbom, debianUrl, nodeUrl } from "./attest/image-sbom.ts";
import { createProvenance, PROVENANCE_TYPE, type Material } from "./attest/provenance.ts";
import { createSignature, createStatementBlob } from "./attest/signature.ts";
import { createBlob, type Descriptor, type Platform } from "./oci/blob.ts";
import { createArtifact, createImage, createImageIndex, isoTime, type Artifact, type Image } from "./oci/image.ts";
import { createLayer, withParents, type Layer, type RootEntry } from "./oci/layer.ts";
import type { ImageSet } from "./oci/layout.ts";
import { annotationsOf, settingsOf, type Program } from "./programs.ts";
import { collectProgram } from "./program-layer.ts";
import { createBaseRoot } from "./root/base-root.ts";
import {
  fetchPackage,
  packagesFor,
  sourcesOf,
  unpackPackage,
  type DebianPackage,
  type DebianPackages,
} from "./root/debian.ts";
import { fetchNode, type NodePackage } from "./root/node-package.ts";

export const CYCLONEDX = "application/vnd.cyclonedx+json";
const IN_TOTO = "application/vnd.in-toto+json";

/** What the images are built from. */
export interface BuildInput {
  readonly root: string;
  readonly lockfile: Lockfile;
  readonly debian: DebianPackages;
  /** Base addresses of Debian mirrors. */
  readonly mirrors: readonly string[];
  /** The output folder of `npm run bundle`. */
  readonly bundles: string;
  readonly version: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly commit: string | undefined;
  /** Host of the registry in the names of the images; none for `oaas/…`. */
  readonly registry: string | undefined;
  readonly builder: string;
  readonly signingKey: KeyObject | undefined;
}

/** The part of an image that is the same for all programs. */
export interface PlatformRoot {
  readonly platform: Platform;
  readonly debian: readonly DebianPackage[];
  readonly node: NodePackage;
  readonly base: readonly RootEntry[];
}

/** The name of an image with its tag. */
export function referenceOf(
  { name }: Program,
  { registry, version }: Pick<BuildInput, "registry" | "version">,
): string {
  return `${registry === undefined ? "" : `${registry}/`}oaas/${name}:${version}`;
}

/** Obtains libraries, certificate authorities and Node for a platform. */
export async function preparePlatform(
  { lockfile, debian, mirrors }: Pick<BuildInput, "lockfile" | "debian" | "mirrors">,
  platform: Platform,
): Promise<PlatformRoot> {
  const wanted = packagesFor(debian, platform.architecture);
  const unpacked = [];
  for (const one of wanted) {
    unpacked.push(await unpackPackage(one, await fetchPackage(one, sourcesOf(one, mirrors))));
  }
  const node = await fetchNode(lockfile, platform.architecture);
  return { platform, debian: wanted, node, base: createBaseRoot(unpacked) };
}

/** The whole root file system of a program. */
export function rootOf(
  program: Program,
  { base, node }: PlatformRoot,
  input: Pick<BuildInput, "bundles" | "root" | "lockfile">,
): readonly RootEntry[] {
  return withParents([...base, ...node.entries, ...collectProgram(program, input.bundles, input.root, input.lockfile)]);
}

/** The layers that all programs of a platform share. Compression takes most of the time of a build. */
export async function createSharedLayers({ debian, node, base }: PlatformRoot): Promise<readonly Layer[]> {
  return [
    await createLayer(`Debian: ${debian.map(({ name, version }) => `${name} ${version}`).join(", ")}`, base),
    await createLayer(`Node: ${node.locked.name} ${node.locked.version}`, node.entries),
  ];
}

/** Builds the image of a program for all platforms, with bills of materials, provenance and signatures. */
export async function buildProgram(
  program: Program,
  input: BuildInput,
  platforms: readonly (readonly [PlatformRoot, readonly Layer[]])[],
): Promise<ImageSet> {
  const { bundles, root, lockfile, version, created, commit, signingKey } = input;
  const annotations = annotationsOf(program, {
    version,
    created: isoTime(created),
    ...(commit === undefined ? {} : { commit }),
  });
  const ownLayer = await createLayer(program.title, collectProgram(program, bundles, root, lockfile));
  const images = platforms.map(([{ platform }, shared]) =>
    createImage({ platform, layers: [...shared, ownLayer], settings: settingsOf(program), created, annotations }),
  );
  const index = createImageIndex(images, annotations);
  const reference = referenceOf(program, input);
  const boms = images.map((image, at) => createBom(program, input, image, platforms[at]?.[0]));
  const provenance = attachProvenance(
    program,
    input,
    index.descriptor,
    platforms.map(([one]) => one),
  );
  const signed = [index, ...images.map(({ manifest }) => manifest), ...boms.map(({ manifest }) => manifest)];
  const signatures =
    signingKey === undefined ? [] : signed.map(({ descriptor }) => createSignature(signingKey, descriptor, reference));
  return { reference, index, images, artifacts: [...boms, provenance, ...signatures] };
}

function createBom(program: Program, input: BuildInput, image: Image, platform: PlatformRoot | undefined): Artifact {
  if (platform === undefined) throw new Error("an image has no platform");
  const bundle = JSON.parse(readFileSync(path.join(input.bundles, `${program.app}.cdx.json`), "utf8")) as Sbom;
  const { debian, node } = platform;
  const bom = createImageSbom(bundle, { release: input.debian.release, debian, node: node.locked });
  return createArtifact({
    artifactType: CYCLONEDX,
    subject: image.manifest.descriptor,
    content: createBlob(CYCLONEDX, Buffer.from(JSON.stringify(bom))),
    annotations: { "org.opencontainers.image.created": isoTime(input.created) },
  });
}

function attachProvenance(
  program: Program,
  input: BuildInput,
  subject: Descriptor,
  platforms: readonly PlatformRoot[],
): Artifact {
  const reference = referenceOf(program, input);
  const statement = createProvenance({
    subject,
    name: reference.slice(0, reference.lastIndexOf(":")),
    version: input.version,
    platforms: platforms.map(({ platform }) => `${platform.os}/${platform.architecture}`),
    created: input.created,
    commit: input.commit,
    builder: input.builder,
    materials: [
      ...platforms.flatMap((platform) => materialsOf(platform, input.debian.release)),
      ...programMaterials(program, input.lockfile),
    ],
  });
  const content = createStatementBlob(statement, input.signingKey);
  const annotations = { "in-toto.io/predicate-type": PROVENANCE_TYPE, predicateType: PROVENANCE_TYPE };
  return createArtifact({
    artifactType: input.signingKey === undefined ? IN_TOTO : content.descriptor.mediaType,
    subject,
    content,
    contentAnnotations: annotations,
    annotations,
  });
}

function materialsOf({ debian, node }: PlatformRoot, release: string): readonly Material[] {
  return [
    ...debian.map((one) => ({ uri: debianUrl(one, release), digest: { sha256: one.sha256 } })),
    { uri: nodeUrl(node.locked), digest: integrityDigest(node.locked.integrity) },
  ];
}

function programMaterials({ app }: Program, lockfile: Lockfile): readonly Material[] {
  return lockfile
    .closureOf(`apps/${app}`)
    .filter(({ isOwn }) => !isOwn)
    .map(({ name, version, integrity }) => ({
      uri: `pkg:npm/${name.replace("@", "%40")}@${version}`,
      digest: integrityDigest(integrity),
    }));
}

function integrityDigest(integrity: string | undefined): Readonly<Record<string, string>> {
  const [algorithm = "", value = ""] = (integrity ?? "").split("-", 2);
  return { [algorithm]: Buffer.from(value, "base64").toString("hex") };
}
