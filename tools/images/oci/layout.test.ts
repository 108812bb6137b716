import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tinyImage } from "../testing/tiny-image.ts";
import { verifyLayout } from "../verify.ts";
import type { Descriptor } from "./blob.ts";
import { createArchive, qualifiedReference, tagOf, writeLayout } from "./layout.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-layout-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (file: string): unknown => JSON.parse(readFileSync(path.join(folder, file), "utf8"));
const blobFile = (digest: string): string => path.join(folder, "blobs", digest.replace(":", "/"));

describe("a layout", () => {
  test("contains the index under its tag, both platforms, and exactly the referenced content", async () => {
    const image = await tinyImage();
    writeLayout(folder, image);
    expect(read("oci-layout")).toEqual({ imageLayoutVersion: "1.0.0" });
    const { manifests } = read("index.json") as { manifests: readonly Descriptor[] };
    expect(manifests[0]).toMatchObject({
      digest: image.index.descriptor.digest,
      annotations: {
        "org.opencontainers.image.ref.name": "1.2.3",
        "io.containerd.image.name": "docker.io/oaas/tiny:1.2.3",
      },
    });
    const index = JSON.parse(readFileSync(blobFile(image.index.descriptor.digest), "utf8")) as {
      manifests: readonly Descriptor[];
    };
    expect(index.manifests.map(({ platform }) => platform)).toEqual([
      { os: "linux", architecture: "amd64" },
      { os: "linux", architecture: "arm64" },
    ]);
    expect(verifyLayout(folder)).toEqual([]);
    // Index, 2 manifests, 2 configurations, 3 layers, manifest of the bill of materials and its content, referrers.
    expect(readdirSync(path.join(folder, "blobs", "sha256"))).toHaveLength(11);
  });

  test("has the run settings in the configuration", async () => {
    const { images } = await tinyImage();
    const config = JSON.parse(Buffer.from(images[0]?.config.bytes ?? []).toString("utf8")) as object;
    expect(config).toMatchObject({
      created: "1970-01-02T00:00:00Z",
      os: "linux",
      architecture: "amd64",
      config: {
        User: "65532:65532",
        Entrypoint: ["/opt/program"],
        Env: ["PATH=/usr/bin"],
        ExposedPorts: { "8080/tcp": {} },
        Labels: { "org.opencontainers.image.title": "Tiny" },
      },
      rootfs: { diff_ids: images[0]?.layers.map(({ diffId }) => diffId) },
    });
  });

  test("replaces an earlier layout", async () => {
    writeLayout(folder, await tinyImage());
    writeFileSync(path.join(folder, "blobs", "left-over"), "");
    writeLayout(folder, await tinyImage());
    expect(readdirSync(path.join(folder, "blobs"))).toEqual(["sha256"]);
  });

  test("lists referrers under the tag of their subject", async () => {
    const image = await tinyImage();
    writeLayout(folder, image);
    const { manifests } = read("index.json") as { manifests: readonly Descriptor[] };
    const tag = image.index.descriptor.digest.replace(":", "-");
    const list = manifests.find(({ annotations }) => annotations?.["org.opencontainers.image.ref.name"] === tag);
    const referrers = JSON.parse(readFileSync(blobFile(list?.digest ?? ""), "utf8")) as object;
    expect(referrers).toMatchObject({ manifests: [{ artifactType: "application/vnd.cyclonedx+json" }] });
  });
});

describe("verification", () => {
  test("reports changed, missing and cut content", async () => {
    const { images, index } = await tinyImage();
    const [layer] = images[0]?.layers ?? [];
    const digest = layer?.blob.descriptor.digest ?? "";
    writeLayout(folder, await tinyImage());
    const intact = readFileSync(blobFile(digest));
    const changed = Buffer.from(intact);
    changed[20] = (changed[20] ?? 0) ^ 1;
    writeFileSync(blobFile(digest), changed);
    expect(verifyLayout(folder)).toEqual([expect.stringMatching(`${digest} has other content`)]);
    writeFileSync(blobFile(digest), intact.subarray(1));
    expect(verifyLayout(folder)).toEqual([
      expect.stringMatching(`${digest} has ${intact.length - 1} bytes`),
      expect.stringMatching("has other content"),
    ]);
    rmSync(blobFile(digest));
    expect(verifyLayout(folder)).toEqual([expect.stringMatching(`${digest} cannot be read`)]);
    rmSync(blobFile(index.descriptor.digest));
    expect(verifyLayout(folder).length).toBeGreaterThan(0);
    rmSync(path.join(folder, "index.json"));
    expect(verifyLayout(folder)).toEqual([expect.stringMatching("index.json cannot be read")]);
  });
});

test("an archive has what Docker, containerd and Podman read", async () => {
  const { images, reference } = await tinyImage();
  const [image] = images;
  const archive = await createArchive(reference, image ?? raise());
  const names = execFileSync("tar", ["-tf", "-"], { input: archive, encoding: "utf8" }).trim().split("\n");
  expect(names.slice(0, 5)).toEqual(["blobs/", "blobs/sha256/", "oci-layout", "index.json", "manifest.json"]);
  const saved = JSON.parse(
    execFileSync("tar", ["-xOf", "-", "manifest.json"], { input: archive, encoding: "utf8" }),
  ) as readonly { Config: string; RepoTags: readonly string[]; Layers: readonly string[] }[];
  expect(saved[0]?.RepoTags).toEqual(["oaas/tiny:1.2.3"]);
  expect([saved[0]?.Config, ...(saved[0]?.Layers ?? [])].filter((name) => !names.includes(name ?? ""))).toEqual([]);
  expect(await createArchive(reference, image ?? raise())).toEqual(archive);
});

function raise(): never {
  throw new Error("no image");
}

test.each([
  ["oaas/cli:0.1.0", "docker.io/oaas/cli:0.1.0", "0.1.0"],
  ["localhost:5000/oaas/cli:1.0.0", "localhost:5000/oaas/cli:1.0.0", "1.0.0"],
  ["localhost/oaas/cli:1.0.0", "localhost/oaas/cli:1.0.0", "1.0.0"],
  ["registry.example/oaas/cli:2.0.0-rc.1", "registry.example/oaas/cli:2.0.0-rc.1", "2.0.0-rc.1"],
])("%s is resolved as %s", (reference, qualified, tag) => {
  expect(qualifiedReference(reference)).toBe(qualified);
  expect(tagOf(reference)).toBe(tag);
});
