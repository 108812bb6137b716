import { execFile } from "node:child_process";
import { globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { cacheDir } from "@oaas/real-components";
import { ImagesError } from "../images-error.ts";
import { sha256, type Platform } from "../oci/blob.ts";
import { readEntries, type RootEntry } from "../oci/layer.ts";

/** A Debian package, pinned by its content. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  readonly architecture: Platform["architecture"] | "all";
  /** Its path on every mirror, such as `debian/pool/main/g/glibc/libc6_2.41-12_amd64.deb`. */
  readonly path: string;
  readonly sha256: string;
}

/** The committed list of packages, written by `npm run images -- --update-packages`. */
export interface DebianPackages {
  readonly release: string;
  readonly packages: readonly DebianPackage[];
}

/** An unpacked package. */
export interface UnpackedPackage extends DebianPackage {
  /** Its control fields, which vulnerability scanners read. */
  readonly control: string;
  readonly entries: readonly RootEntry[];
}

export const PACKAGES_FILE = path.join(import.meta.dirname, "debian-packages.json");

export function readDebianPackages(): DebianPackages {
  return JSON.parse(readFileSync(PACKAGES_FILE, "utf8")) as DebianPackages;
}

/** The packages of the list for an architecture. */
export function packagesFor(
  { packages }: DebianPackages,
  architecture: Platform["architecture"],
): readonly DebianPackage[] {
  return packages.filter((one) => one.architecture === architecture || one.architecture === "all");
}

/**
 * The base addresses of mirrors: the setting (separated by commas), else those that apt uses on this machine. Mirrors have
 * current versions only, so an older list needs a mirror that keeps all.
 */
export function debianMirrors(setting: string | undefined, aptSources = readAptSources()): readonly string[] {
  const stated = (setting ?? "").split(",").map((one) => one.trim().replace(/\/$/, ""));
  const mirrors = stated.some((one) => one !== "") ? stated.filter((one) => one !== "") : mirrorsOfApt(aptSources);
  if (mirrors.length > 0) return mirrors;
  throw new ImagesError(
    "no mirror of Debian is known: this machine has no apt sources for it\nFix: set OAAS_DEBIAN_MIRROR to the address of a mirror",
  );
}

function mirrorsOfApt(sources: string): readonly string[] {
  const lines = sources.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  const found = lines.flatMap((line) => [...line.matchAll(/(https?:\/\/\S+)\/debian(?:-security)?\/?(?=\s|$)/g)]);
  return [...new Set(found.map(([, mirror = ""]) => mirror))];
}

function readAptSources(): string {
  const files = globSync(["/etc/apt/sources.list", "/etc/apt/sources.list.d/*.{list,sources}"]);
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

/** Where to download a package from. */
export function sourcesOf({ path: file }: DebianPackage, mirrors: readonly string[]): readonly string[] {
  return mirrors.map((mirror) => `${mirror}/${file}`.replaceAll("+", "%2B"));
}

/** Downloads a package into the cache, and verifies it in every case. Returns its file. */
export async function fetchPackage(
  wanted: DebianPackage,
  sources: readonly string[],
  folder = path.join(cacheDir(), "images"),
): Promise<string> {
  const file = path.join(folder, `${wanted.sha256}.deb`);
  if (matches(file, wanted.sha256)) return file;
  const problems: string[] = [];
  for (const source of sources) {
    try {
      const bytes = await download(source);
      const digest = sha256(bytes);
      if (digest !== wanted.sha256) throw new Error(`its SHA-256 is ${digest}, expected ${wanted.sha256}`);
      mkdirSync(folder, { recursive: true });
      const partial = `${file}.${process.pid}`;
      writeFileSync(partial, bytes);
      renameSync(partial, file);
      return file;
    } catch (error) {
      problems.push(`${source}: ${reasonOf(error)}`);
    }
  }
  throw new ImagesError(
    `download of ${wanted.name} ${wanted.version} failed:\n  ${problems.join("\n  ")}\n` +
      "Fix: set OAAS_DEBIAN_MIRROR to a reachable mirror, or update the list with npm run images -- --update-packages",
  );
}

async function download(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(120_000) });
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.bytes();
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function matches(file: string, digest: string): boolean {
  try {
    return sha256(readFileSync(file)) === digest;
  } catch {
    return false;
  }
}

const run = promisify(execFile);

/** Unpacks a package with dpkg-deb. */
export async function unpackPackage(wanted: DebianPackage, file: string): Promise<UnpackedPackage> {
  const [tar, control] = await Promise.all([dpkgDeb("--fsys-tarfile", file), dpkgDeb("--field", file)]);
  return { ...wanted, control: control.toString("utf8"), entries: await readEntries(tar) };
}

async function dpkgDeb(action: string, file: string): Promise<Buffer> {
  try {
    const { stdout } = await run("dpkg-deb", [action, file], { encoding: "buffer", maxBuffer: 256 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new ImagesError(
      "dpkg-deb is not on PATH: install the package dpkg (apt-get install dpkg, brew install dpkg)",
      { cause: error },
    );
  }
}
