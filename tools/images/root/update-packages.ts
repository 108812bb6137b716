import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { BASE_PACKAGES } from "./base-root.ts";
import { PACKAGES_FILE, type DebianPackage, type DebianPackages } from "./debian.ts";

const RELEASE = "trixie";
const ARCHITECTURES = ["amd64", "arm64"] as const;
const WITHOUT_ARCHITECTURE = new Set(["ca-certificates"]);
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

const run = promisify(execFile);

/**
 * Writes the present versions of the packages. apt verifies the signatures of the lists, so this needs a Debian machine;
 * it uses its own folder and changes nothing of the system.
 */
export async function updatePackages(mirror: string): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-apt-"));
  try {
    const list = await listPackages(folder, mirror);
    writeFileSync(PACKAGES_FILE, `${JSON.stringify(list, undefined, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function listPackages(folder: string, mirror: string): Promise<DebianPackages> {
  for (const needed of ["lists/partial", "cache/archives/partial"]) {
    mkdirSync(path.join(folder, needed), { recursive: true });
  }
  const signed = `[signed-by=${KEYRING}]`;
  writeFileSync(
    path.join(folder, "sources.list"),
    `deb ${signed} ${mirror}/debian ${RELEASE} main\ndeb ${signed} ${mirror}/debian-security ${RELEASE}-security main\n`,
  );
  const options = [
    ["Dir::State::Lists", path.join(folder, "lists")],
    ["Dir::State::status", "/dev/null"],
    ["Dir::Cache", path.join(folder, "cache")],
    ["Dir::Etc::SourceList", path.join(folder, "sources.list")],
    ["Dir::Etc::SourceParts", "/dev/null"],
    ["APT::Sandbox::User", ""],
    ...ARCHITECTURES.map((architecture) => ["APT::Architectures::", architecture]),
  ].flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  await run("apt-get", [...options, "update"]);
  const wanted = BASE_PACKAGES.flatMap((name) =>
    WITHOUT_ARCHITECTURE.has(name) ? [name] : ARCHITECTURES.map((architecture) => `${name}:${architecture}`),
  );
  const { stdout } = await run("apt-get", [...options, "--print-uris", "download", ...wanted], { cwd: folder });
  return { release: RELEASE, packages: parseUris(stdout, mirror) };
}

/** Reads lines such as `'http://…/libc6_2.41-12_amd64.deb' libc6_2.41-12_amd64.deb 2846580 SHA256:…`. */
export function parseUris(output: string, mirror: string): readonly DebianPackage[] {
  const found = [
    ...output.matchAll(
      /^'(?<url>\S+)' (?<file>\S+)_(?<version>\S+)_(?<architecture>\w+)\.deb \d+ SHA256:(?<digest>[0-9a-f]{64})$/gm,
    ),
  ];
  const packages = found.map(({ groups = {} }): DebianPackage => {
    const { url = "", file = "", version = "", architecture = "", digest = "" } = groups;
    return {
      name: file,
      version: decodeURIComponent(version),
      architecture: architecture as DebianPackage["architecture"],
      path: decodeURIComponent(url).slice(mirror.length + 1),
      sha256: digest,
    };
  });
  if (packages.length === 0) throw new Error(`apt-get printed no packages:\n${output}`);
  const unique = new Map(packages.map((one) => [one.path, one]));
  return [...unique.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
