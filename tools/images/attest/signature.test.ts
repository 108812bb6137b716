import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createJsonBlob, MEDIA_TYPES, type Descriptor } from "../oci/blob.ts";
import { createArtifact } from "../oci/image.ts";
import { writeLayout } from "../oci/layout.ts";
import { tinyImage } from "../testing/tiny-image.ts";
import { verifyLayout } from "../verify.ts";
import {
  createSignature,
  findEnvelopeProblem,
  createStatementBlob,
  readSigningKey,
  readVerificationKey,
} from "./signature.ts";

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const KEYS: Readonly<Record<string, () => Pair>> = {
  "EC P-256": () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  Ed25519: () => generateKeyPairSync("ed25519"),
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-signature-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each(Object.entries(KEYS))("signatures with %s", (_, generate) => {
  test("of every image, bill of materials and the provenance are verified", async () => {
    const { privateKey, publicKey } = generate();
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    writeLayout(folder, await tinyImage(readSigningKey(pem)));
    const verification = readVerificationKey(publicKey.export({ type: "spki", format: "pem" }).toString());
    expect(verifyLayout(folder, verification)).toEqual([]);
  });

  test("of another key are reported for each image", async () => {
    writeLayout(folder, await tinyImage(generate().privateKey));
    const problems = verifyLayout(folder, generate().publicKey);
    expect(problems).toHaveLength(5);
    expect(problems.filter((problem) => /is not of this key|is not signed by this key/.test(problem))).toHaveLength(5);
  });

  test("of another image do not count", async () => {
    const { privateKey, publicKey } = generate();
    const image = await tinyImage(privateKey);
    const other = createSignature(privateKey, { ...image.index.descriptor, digest: `sha256:${"0".repeat(64)}` }, "a:1");
    const [content, config] = [other.blobs[1], other.blobs[0]];
    if (content === undefined || config === undefined) throw new Error("no content");
    const { layers } = JSON.parse(Buffer.from(other.manifest.bytes).toString()) as { layers: readonly Descriptor[] };
    const moved = createArtifact({
      artifactType: "application/vnd.dev.cosign.artifact.sig.v1+json",
      subject: image.index.descriptor,
      content,
      contentAnnotations: layers[0]?.annotations ?? {},
    });
    const rest = image.artifacts.filter(({ tag, subject }) => tag === undefined || subject !== image.index.descriptor);
    writeLayout(folder, { ...image, artifacts: [...rest, moved] });
    expect(verifyLayout(folder, publicKey)).toEqual([
      expect.stringMatching(`${image.index.descriptor.digest}: the signature is of sha256:0000`),
    ]);
  });

  test("do not cover a changed statement", () => {
    const { privateKey, publicKey } = generate();
    const envelope = createStatementBlob({ subject: "image" }, privateKey).bytes;
    expect(findEnvelopeProblem(publicKey, envelope)).toBeUndefined();
    const parsed = JSON.parse(Buffer.from(envelope).toString()) as object;
    const forged = { ...parsed, payload: Buffer.from('{"subject":"other"}').toString("base64") };
    expect(findEnvelopeProblem(publicKey, Buffer.from(JSON.stringify(forged)))).toBe(
      "the envelope is not signed by this key",
    );
    const otherType = { ...parsed, payloadType: "text/plain" };
    expect(findEnvelopeProblem(publicKey, Buffer.from(JSON.stringify(otherType)))).toMatch("not an envelope");
  });
});

test("an image without signatures is reported", async () => {
  writeLayout(folder, await tinyImage());
  expect(verifyLayout(folder, generateKeyPairSync("ed25519").publicKey)).toEqual(
    Array.from({ length: 4 }, () => expect.stringMatching("is not signed")),
  );
});

test("an image that is added to a signed layout is reported", async () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeLayout(folder, await tinyImage(privateKey));
  const added = createJsonBlob(MEDIA_TYPES.index, { schemaVersion: 2, mediaType: MEDIA_TYPES.index, manifests: [] });
  writeFileSync(path.join(folder, "blobs", added.descriptor.digest.replace(":", "/")), added.bytes);
  const index = JSON.parse(readFileSync(path.join(folder, "index.json"), "utf8")) as {
    manifests: readonly Descriptor[];
  };
  const manifests = [
    { ...added.descriptor, annotations: { "org.opencontainers.image.ref.name": "1.2.3" } },
    ...index.manifests,
  ];
  writeFileSync(path.join(folder, "index.json"), JSON.stringify({ ...index, manifests }));
  expect(verifyLayout(folder, publicKey)).toEqual([`${added.descriptor.digest} (image) is not signed`]);
});

test.each([
  ["a certificate request", "-----BEGIN CERTIFICATE REQUEST-----", /not an unencrypted private key in PEM; create one/],
  [
    "RSA",
    generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    /has the type rsa ; use EC P-256 or Ed25519/,
  ],
  [
    "another curve",
    generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    /has the type ec secp384r1; use EC P-256/,
  ],
])("%s is rejected as a signing key", (_, pem, message) => {
  expect(() => readSigningKey(pem)).toThrow(message);
});
