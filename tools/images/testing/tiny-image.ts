import type { KeyObject } from "node:crypto";
import { createProvenance } from "../attest/provenance.ts";
import { createSignature, createStatementBlob, ENVELOPE } from "../attest/signature.ts";
import { createBlob, type Platform } from "../oci/blob.ts";
import { createArtifact, createImage, createImageIndex, type Image } from "../oci/image.ts";
import { createLayer } from "../oci/layer.ts";
import type { ImageSet } from "../oci/layout.ts";

/** For tests: a small image for two platforms, with a bill of materials, and signed if there is a key. */
export async function tinyImage(key?: KeyObject): Promise<ImageSet> {
  const shared = await createLayer("shared", [
    { type: "file", path: "etc/passwd", mode: 0o644, bytes: Buffer.from("root:x:0:0\n") },
  ]);
  const images: Image[] = [];
  for (const architecture of ["amd64", "arm64"] as const) {
    const platform: Platform = { os: "linux", architecture };
    const program = await createLayer("program", [
      { type: "file", path: "opt/program", mode: 0o755, bytes: Buffer.from(architecture) },
    ]);
    images.push(
      createImage({ platform, layers: [shared, program], settings: SETTINGS, created: 86_400, annotations: LABELS }),
    );
  }
  const index = createImageIndex(images, LABELS);
  const bom = createArtifact({
    artifactType: "application/vnd.cyclonedx+json",
    subject: index.descriptor,
    content: createBlob("application/vnd.cyclonedx+json", Buffer.from("{}")),
  });
  const reference = "oaas/tiny:1.2.3";
  if (key === undefined) return { reference, index, images, artifacts: [bom] };
  const statement = createProvenance({
    subject: index.descriptor,
    name: "oaas/tiny",
    version: "1.2.3",
    platforms: ["linux/amd64", "linux/arm64"],
    created: 86_400,
    commit: "0".repeat(40),
    builder: "https://builder.example",
    materials: [],
  });
  const provenance = createArtifact({
    artifactType: ENVELOPE,
    subject: index.descriptor,
    content: createStatementBlob(statement, key),
  });
  const signed = [index, ...images.map(({ manifest }) => manifest), bom.manifest];
  const signatures = signed.map(({ descriptor }) => createSignature(key, descriptor, reference));
  return { reference, index, images, artifacts: [bom, provenance, ...signatures] };
}

const LABELS = { "org.opencontainers.image.title": "Tiny" };

const SETTINGS = {
  entrypoint: ["/opt/program"],
  user: "65532:65532",
  workingDir: "/",
  env: { PATH: "/usr/bin" },
  ports: ["8080/tcp"],
};
