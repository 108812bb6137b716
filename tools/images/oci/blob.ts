import { createHash } from "node:crypto";

export const MEDIA_TYPES = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  empty: "application/vnd.oci.empty.v1+json",
} as const;

export interface Platform {
  readonly os: "linux";
  readonly architecture: "amd64" | "arm64";
}

/** A reference to content in an OCI registry or layout. */
export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly platform?: Platform;
  readonly artifactType?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Content with its descriptor. */
export interface Blob {
  readonly descriptor: Descriptor;
  readonly bytes: Uint8Array;
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function createBlob(mediaType: string, bytes: Uint8Array): Blob {
  return { descriptor: { mediaType, digest: `sha256:${sha256(bytes)}`, size: bytes.length }, bytes };
}

export function createJsonBlob(mediaType: string, value: object): Blob {
  return createBlob(mediaType, Buffer.from(JSON.stringify(value)));
}
