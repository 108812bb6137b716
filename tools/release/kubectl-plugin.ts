import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { stringify } from "yaml";
import { sha256, type Platform } from "../images/oci/blob.ts";
import { packEntries, type RootEntry } from "../images/oci/layer.ts";
import { licenseTexts } from "../images/program-layer.ts";
import { fetchNode } from "../images/root/node-package.ts";
import type { Lockfile } from "../supply-chain/lockfile.ts";
import { createKrewManifest, PLUGIN_NAME, type PluginArchive } from "./krew-manifest.ts";

export interface PluginInput {
  readonly root: string;
  readonly lockfile: Lockfile;
  readonly version: string;
  /** The bundle of the command line. */
  readonly bundle: string;
  /** The folder to write to. */
  readonly out: string;
  /** The address from which users will download this folder; without it no manifest is written. */
  readonly downloadUrl: string | undefined;
}

const ARCHITECTURES: readonly Platform["architecture"][] = ["amd64", "arm64"];
const PROGRAMS = ["kubectl-oaas", "kubectl_complete-oaas"];

/**
 * Writes the archives of the kubectl plug-in, and the manifest with which krew installs them. An archive for Linux
 * contains Node. The one for macOS uses the Node on PATH, because no package that we can pin has one for macOS.
 */
export async function writeKubectlPlugin(input: PluginInput): Promise<void> {
  mkdirSync(input.out, { recursive: true });
  const entries = collectPlugin(input);
  const archives: PluginArchive[] = [];
  for (const arch of ARCHITECTURES) {
    const { entries: node } = await fetchNode(input.lockfile, arch);
    archives.push(await writeArchive(input, { os: "linux", arch }, [...entries, ...node.map(placeBesidePrograms)]));
  }
  archives.push(await writeArchive(input, { os: "darwin" }, entries));
  if (input.downloadUrl === undefined) return;
  const manifest = createKrewManifest(input.version, input.downloadUrl, archives);
  writeFileSync(path.join(input.out, `${PLUGIN_NAME}.yaml`), stringify(manifest, { blockQuote: "literal" }));
}

/** The files that every archive has. */
export function collectPlugin({
  root,
  lockfile,
  bundle,
}: Pick<PluginInput, "root" | "lockfile" | "bundle">): readonly RootEntry[] {
  const libraries = lockfile.closureOf("apps/cli").filter(({ isOwn }) => !isOwn);
  return [
    ...PROGRAMS.map((name) => file(name, 0o755, readFileSync(path.join(root, "apps", "cli", "kubectl-plugin", name)))),
    file("cli.mjs", 0o644, readFileSync(bundle)),
    file("LICENSE", 0o644, readFileSync(path.join(root, "LICENSE"))),
    file("third-party-licenses.txt", 0o644, Buffer.from(licenseTexts(libraries, root))),
  ];
}

/** Node and its license are in one folder with our programs; in an image they are elsewhere. */
function placeBesidePrograms(entry: RootEntry): RootEntry {
  const name = path.posix.basename(entry.path);
  return { ...entry, path: name === "LICENSE" ? "LICENSE-node" : name };
}

async function writeArchive(
  { version, out }: PluginInput,
  platform: Pick<PluginArchive, "os" | "arch">,
  entries: readonly RootEntry[],
): Promise<PluginArchive> {
  const { os, arch } = platform;
  const name = `kubectl-oaas-${version}-${os}${arch === undefined ? "" : `-${arch}`}.tar.gz`;
  const { compressed } = await packEntries(entries);
  writeFileSync(path.join(out, name), compressed);
  return { ...platform, file: name, sha256: sha256(compressed) };
}

function file(name: string, mode: number, bytes: Uint8Array): RootEntry {
  return { type: "file", path: name, mode, bytes };
}
