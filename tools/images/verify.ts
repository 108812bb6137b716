import type { KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { findEnvelopeProblem, findSignatureProblem, ENVELOPE, SIGNATURE_TYPE } from "./attest/signature.ts";
import { MEDIA_TYPES, sha256, type Descriptor } from "./oci/blob.ts";

const REFERRERS_TAG = /^sha256-[0-9a-f]{64}$/;

/** A manifest or index, as far as it is verified. */
interface Manifest {
  readonly mediaType?: string;
  readonly artifactType?: string;
  readonly config?: Descriptor;
  readonly layers?: readonly Descriptor[];
  readonly manifests?: readonly Descriptor[];
  readonly subject?: Descriptor;
}

/**
 * Verifies an OCI layout: the size and digest of all content, and with a key that each image, each bill of materials and
 * the provenance is signed by its owner. Returns the problems.
 */
export function verifyLayout(folder: string, key?: KeyObject): readonly string[] {
  const problems: string[] = [];
  const manifests = new Map<string, Manifest>();
  const seen = new Set<string>();

  const readBlob = (digest: string): Uint8Array => {
    const hex = /^sha256:(?<hex>[0-9a-f]{64})$/.exec(digest)?.groups?.["hex"];
    if (hex === undefined) throw new Error(`"${digest}" is not a SHA-256 digest`);
    return readFileSync(path.join(folder, "blobs", "sha256", hex));
  };
  const visit = ({ digest, size, mediaType }: Descriptor): void => {
    if (seen.has(digest)) return;
    seen.add(digest);
    const bytes = attempt(
      () => readBlob(digest),
      (reason) => problems.push(`${digest} cannot be read: ${reason}`),
    );
    if (bytes === undefined) return;
    if (bytes.length !== size) problems.push(`${digest} has ${bytes.length} bytes, expected ${size}`);
    if (`sha256:${sha256(bytes)}` !== digest) {
      problems.push(`${digest} has other content: its digest is sha256:${sha256(bytes)}`);
      return;
    }
    if (mediaType !== MEDIA_TYPES.index && mediaType !== MEDIA_TYPES.manifest) return;
    const manifest = JSON.parse(Buffer.from(bytes).toString("utf8")) as Manifest;
    manifests.set(digest, manifest);
    const parts = [manifest.config, ...(manifest.layers ?? []), ...(manifest.manifests ?? []), manifest.subject];
    for (const part of parts) if (part !== undefined) visit(part);
  };

  const index = attempt(
    () => JSON.parse(readFileSync(path.join(folder, "index.json"), "utf8")) as Manifest,
    (reason) => problems.push(`index.json cannot be read: ${reason}`),
  );
  for (const descriptor of index?.manifests ?? []) visit(descriptor);
  if (index !== undefined && (index.manifests ?? []).length === 0) problems.push("index.json lists no image");
  if (key === undefined || problems.length > 0) return problems;
  for (const { digest, annotations } of index?.manifests ?? []) {
    // A list of referrers is found by its tag and is not content of an image.
    if (REFERRERS_TAG.test(annotations?.["org.opencontainers.image.ref.name"] ?? "")) manifests.delete(digest);
  }
  return [...manifests].flatMap(([digest, manifest]) => signatureProblems(digest, manifest, manifests, key, readBlob));
}

function signatureProblems(
  digest: string,
  manifest: Manifest,
  manifests: ReadonlyMap<string, Manifest>,
  key: KeyObject,
  readBlob: (digest: string) => Uint8Array,
): readonly string[] {
  if (manifest.artifactType === SIGNATURE_TYPE) return [];
  const [content] = manifest.layers ?? [];
  if (manifest.artifactType === ENVELOPE && content !== undefined) {
    const problem = findEnvelopeProblem(key, readBlob(content.digest));
    return problem === undefined ? [] : [`provenance ${digest}: ${problem}`];
  }
  const signatures = [...manifests.values()].filter(
    ({ artifactType, subject }) => artifactType === SIGNATURE_TYPE && subject?.digest === digest,
  );
  if (signatures.length === 0) return [`${digest} (${manifest.artifactType ?? "image"}) is not signed`];
  const found = signatures.map((signature) => findSignatureProblem(key, digest, signature, readBlob));
  return found.includes(undefined) ? [] : found.map((problem) => `${digest}: ${problem}`);
}

function attempt<T>(read: () => T, onError: (reason: string) => void): T | undefined {
  try {
    return read();
  } catch (error) {
    onError(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
