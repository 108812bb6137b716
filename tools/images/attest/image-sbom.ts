import { createHash } from "node:crypto";
import type { Sbom } from "../../supply-chain/sbom.ts";
import type { DebianPackage } from "../root/debian.ts";
import type { LockedPackage } from "../../supply-chain/lockfile.ts";

/** The package URL of a Debian package, such as `pkg:deb/debian/libc6@2.41-12?arch=amd64&distro=trixie`. */
export function debianUrl({ name, version, architecture }: DebianPackage, release: string): string {
  return `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=${release}`;
}

export function nodeUrl({ name, version }: LockedPackage): string {
  return `pkg:npm/${name}@${version}`;
}

interface RootParts {
  readonly release: string;
  readonly debian: readonly DebianPackage[];
  readonly node: LockedPackage;
}

/** The bill of materials of an image: that of its program, with Node and the packages of the root file system. */
export function createImageSbom(bundle: Sbom, { release, debian, node }: RootParts): Sbom {
  const added: Sbom["components"] = [
    {
      type: "application",
      "bom-ref": nodeUrl(node),
      name: node.name,
      version: node.version,
      purl: nodeUrl(node),
      ...(node.license === undefined ? {} : { licenses: [{ license: { id: node.license } }] }),
    },
    ...debian.map((one) => ({
      type: "library" as const,
      "bom-ref": debianUrl(one, release),
      group: "debian",
      name: one.name,
      version: one.version,
      purl: debianUrl(one, release),
      hashes: [{ alg: "SHA-256" as const, content: one.sha256 }],
    })),
  ];
  const components = [...bundle.components, ...added].toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  const own = bundle.metadata.component["bom-ref"];
  const dependencies = bundle.dependencies.map((one) =>
    one.ref === own
      ? { ...one, dependsOn: [...one.dependsOn, ...added.map((part) => part["bom-ref"])].toSorted() }
      : one,
  );
  const content = { ...bundle, components, dependencies };
  const digest = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const uuid = [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ];
  return { ...content, serialNumber: `urn:uuid:${uuid.join("-")}` };
}
