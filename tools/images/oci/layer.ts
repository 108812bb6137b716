import { gzipSync } from "fflate";
import { packTar, unpackTar, type TarEntry } from "modern-tar";
import { createBlob, MEDIA_TYPES, sha256, type Blob } from "./blob.ts";

/** A file, folder or symbolic link of a root file system. The path is relative to the root, without "./". */
export type RootEntry = FileEntry | FolderEntry | LinkEntry;

interface Owned {
  readonly path: string;
  /** User and group id; the default is root. */
  readonly owner?: number;
}

export interface FileEntry extends Owned {
  readonly type: "file";
  readonly mode: number;
  readonly bytes: Uint8Array;
}

export interface FolderEntry extends Owned {
  readonly type: "folder";
  readonly mode: number;
}

export interface LinkEntry extends Owned {
  readonly type: "link";
  readonly target: string;
}

/** A compressed layer and the digest of its content before compression. */
export interface Layer {
  readonly blob: Blob;
  readonly diffId: string;
  readonly description: string;
}

/** A tar archive before and after compression. */
export interface PackedEntries {
  readonly tar: Uint8Array;
  readonly compressed: Uint8Array;
}

export async function createLayer(description: string, entries: readonly RootEntry[]): Promise<Layer> {
  const { tar, compressed } = await packEntries(entries);
  return { blob: createBlob(MEDIA_TYPES.layer, compressed), diffId: `sha256:${sha256(tar)}`, description };
}

/**
 * Packs entries into a tar archive. Equal entries give equal bytes on every machine: they are sorted, have no time, and
 * are compressed by JavaScript, because the output of zlib in Node depends on its version and on the processor.
 */
export async function packEntries(entries: readonly RootEntry[]): Promise<PackedEntries> {
  const tar = await packTar(withParents(entries).map(toTarEntry));
  return { tar, compressed: gzipSync(tar, { level: 6, mtime: 0 }) };
}

/** Adds missing parent folders and sorts the entries by path. Rejects paths outside of the root and duplicates. */
export function withParents(entries: readonly RootEntry[]): readonly RootEntry[] {
  const byPath = new Map<string, RootEntry>();
  for (const entry of entries) {
    if (!isInsideRoot(entry.path)) throw new Error(`"${entry.path}" is not a path below the root`);
    if (byPath.has(entry.path)) throw new Error(`"${entry.path}" is in the layer twice`);
    byPath.set(entry.path, entry);
  }
  for (const { path } of entries) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      const parent = path.slice(0, end);
      const present = byPath.get(parent);
      if (present === undefined) byPath.set(parent, { type: "folder", path: parent, mode: 0o755 });
      else if (present.type !== "folder") throw new Error(`"${parent}" is not a folder, but contains "${path}"`);
    }
  }
  return [...byPath.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function isInsideRoot(path: string): boolean {
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function toTarEntry(entry: RootEntry): TarEntry {
  const owner = entry.owner ?? 0;
  const common = { uid: owner, gid: owner, mtime: new Date(0) };
  switch (entry.type) {
    case "file":
      return {
        header: { ...common, name: entry.path, type: "file", mode: entry.mode, size: entry.bytes.length },
        body: entry.bytes,
      };
    case "folder":
      return { header: { ...common, name: `${entry.path}/`, type: "directory", mode: entry.mode, size: 0 } };
    case "link":
      return {
        header: { ...common, name: entry.path, type: "symlink", mode: 0o777, size: 0, linkname: entry.target },
      };
  }
}

/** Reads the entries of an uncompressed archive. Owners are not kept; hard links and devices are rejected. */
export async function readEntries(tar: Uint8Array): Promise<readonly RootEntry[]> {
  const entries: RootEntry[] = [];
  for (const { header, data } of await unpackTar(tar, { strict: true })) {
    const path = header.name.replace(/^\.?\//, "").replace(/\/$/, "");
    if (path === "" || path === ".") continue;
    const mode = header.mode ?? 0o755;
    if (header.type === "file") entries.push({ type: "file", path, mode, bytes: data ?? new Uint8Array() });
    else if (header.type === "directory") entries.push({ type: "folder", path, mode });
    else if (header.type === "symlink") entries.push({ type: "link", path, target: header.linkname ?? "" });
    else throw new Error(`"${header.name}" is a ${String(header.type)}, which layers do not contain`);
  }
  return entries;
}
