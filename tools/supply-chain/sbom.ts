import { createHash } from "node:crypto";
import type { LockedPackage, Lockfile } from "./lockfile.ts";

interface Hash {
  readonly alg: "SHA-256" | "SHA-512";
  readonly content: string;
}

interface Component {
  readonly type: "library" | "application" | "file";
  readonly "bom-ref": string;
  readonly group?: string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly Hash[];
}

/** A software bill of materials in the format CycloneDX 1.6. */
export interface Sbom {
  readonly $schema: string;
  readonly bomFormat: "CycloneDX";
  readonly specVersion: "1.6";
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: { readonly tools: object; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * Lists the packages that an app needs at run time, from the lockfile. `bundle` is the file that contains them. Equal
 * input gives an equal document: it has no time, and its serial number is derived from its content.
 */
export function createSbom(lockfile: Lockfile, app: string, bundle: Uint8Array): Sbom {
  const closure = lockfile.closureOf(app);
  const components = closure.filter(({ folder }) => folder !== app).map(toComponent);
  const content = {
    metadata: {
      tools: { components: [{ type: "application", name: "oaas bundle" }] },
      component: { ...toComponent(lockfile.get(app)), type: "application" as const, hashes: [hashOf(bundle)] },
    },
    // Two folders may contain the same version.
    components: [...new Map(components.map((one) => [one["bom-ref"], one])).values()].toSorted(byRef),
    dependencies: mergeDependencies(
      closure.map((one) => ({ ref: purlOf(one), dependsOn: lockfile.dependenciesOf(one.folder).map(purlOf) })),
    ),
  };
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    version: 1,
    ...content,
  };
}

function toComponent(one: LockedPackage): Component {
  const [scope, bare] = one.name.startsWith("@") ? one.name.split("/", 2) : [undefined, one.name];
  return {
    type: "library",
    "bom-ref": purlOf(one),
    ...(scope === undefined ? {} : { group: scope }),
    name: bare ?? one.name,
    version: one.version,
    purl: purlOf(one),
    ...(one.license === undefined ? {} : { licenses: [licenseOf(one.license)] }),
    ...(one.integrity === undefined ? {} : { hashes: hashesOf(one.integrity) }),
  };
}

function licenseOf(license: string): object {
  return /[ (]/.test(license) ? { expression: license.replace(/^\((.*)\)$/, "$1") } : { license: { id: license } };
}

/** The package URL, such as `pkg:npm/%40oaas/rpc@0.1.0`. */
function purlOf({ name, version }: LockedPackage): string {
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

function hashesOf(integrity: string): readonly Hash[] {
  return integrity
    .split(/\s+/)
    .filter((one) => one.startsWith("sha512-"))
    .map((one) => ({ alg: "SHA-512", content: Buffer.from(one.slice("sha512-".length), "base64").toString("hex") }));
}

function hashOf(bytes: Uint8Array): Hash {
  return { alg: "SHA-256", content: createHash("sha256").update(bytes).digest("hex") };
}

function mergeDependencies(edges: Sbom["dependencies"]): Sbom["dependencies"] {
  const byPackage = Map.groupBy(edges, ({ ref }) => ref);
  return [...byPackage]
    .map(([ref, same]) => ({ ref, dependsOn: [...new Set(same.flatMap(({ dependsOn }) => dependsOn))].toSorted() }))
    .toSorted((a, b) => (a.ref < b.ref ? -1 : 1));
}

function byRef(a: Component, b: Component): number {
  return a["bom-ref"] < b["bom-ref"] ? -1 : 1;
}

/** A UUID of version 8 (custom) from a digest. */
function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}
