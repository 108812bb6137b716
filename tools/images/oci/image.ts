import { createJsonBlob, MEDIA_TYPES, type Blob, type Descriptor, type Platform } from "./blob.ts";
import type { Layer } from "./layer.ts";

/** How a container is started from the image. */
export interface RunSettings {
  readonly entrypoint: readonly string[];
  readonly user: string;
  readonly workingDir: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ports such as `8080/tcp`. */
  readonly ports: readonly string[];
}

export interface ImageOptions {
  readonly platform: Platform;
  readonly layers: readonly Layer[];
  readonly settings: RunSettings;
  /** The time that is recorded, as seconds since 1970. */
  readonly created: number;
  /** Become labels of the image and annotations of its manifest. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** The image of one platform. */
export interface Image {
  readonly platform: Platform;
  readonly manifest: Blob;
  readonly config: Blob;
  readonly layers: readonly Layer[];
}

export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

export function createImage({ platform, layers, settings, created, annotations }: ImageOptions): Image {
  const time = isoTime(created);
  const config = createJsonBlob(MEDIA_TYPES.config, {
    created: time,
    ...platform,
    config: {
      User: settings.user,
      ...(settings.ports.length === 0
        ? {}
        : { ExposedPorts: Object.fromEntries(settings.ports.map((port) => [port, {}])) }),
      Env: Object.entries(settings.env).map(([name, value]) => `${name}=${value}`),
      Entrypoint: settings.entrypoint,
      WorkingDir: settings.workingDir,
      Labels: annotations,
    },
    rootfs: { type: "layers", diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ description }) => ({ created: time, created_by: "npm run images", comment: description })),
  });
  const manifest = createJsonBlob(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    config: config.descriptor,
    layers: layers.map(({ blob }) => blob.descriptor),
    annotations,
  });
  return { platform, manifest, config, layers };
}

/** The index of the images of all platforms. */
export function createImageIndex(images: readonly Image[], annotations: Readonly<Record<string, string>>): Blob {
  const manifests = images.map(({ manifest, platform }) => ({ ...manifest.descriptor, platform }));
  return createIndex(manifests, { annotations });
}

export function createIndex(manifests: readonly Descriptor[], more: object = {}): Blob {
  return createJsonBlob(MEDIA_TYPES.index, { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests, ...more });
}

export interface ArtifactOptions {
  readonly artifactType: string;
  /** The manifest or index that the artifact is about. */
  readonly subject: Descriptor;
  readonly content: Blob;
  readonly contentAnnotations?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly config?: Blob;
  readonly tag?: string;
}

/** An artifact about an image, which registries list as a referrer of its subject. */
export interface Artifact {
  readonly subject: Descriptor;
  /** Its descriptor has the artifact type. */
  readonly manifest: Blob;
  /** The content that the manifest refers to. */
  readonly blobs: readonly Blob[];
  /** The tag under which tools without referrers find it. */
  readonly tag: string | undefined;
}

const EMPTY_CONFIG = createJsonBlob(MEDIA_TYPES.empty, {});

export function createArtifact(options: ArtifactOptions): Artifact {
  const { artifactType, subject, content, contentAnnotations, annotations, config = EMPTY_CONFIG, tag } = options;
  const manifest = createJsonBlob(MEDIA_TYPES.manifest, {
    schemaVersion: 2,
    mediaType: MEDIA_TYPES.manifest,
    artifactType,
    config: config.descriptor,
    layers: [
      { ...content.descriptor, ...(contentAnnotations === undefined ? {} : { annotations: contentAnnotations }) },
    ],
    subject: { mediaType: subject.mediaType, digest: subject.digest, size: subject.size },
    ...(annotations === undefined ? {} : { annotations }),
  });
  return {
    subject,
    manifest: {
      descriptor: { ...manifest.descriptor, artifactType, ...(annotations === undefined ? {} : { annotations }) },
      bytes: manifest.bytes,
    },
    blobs: [config, content],
    tag,
  };
}
