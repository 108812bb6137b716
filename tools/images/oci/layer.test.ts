import { execFileSync } from "node:child_process";
import { gunzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createLayer, readEntries, withParents, type RootEntry } from "./layer.ts";

const ENTRIES: readonly RootEntry[] = [
  { type: "file", path: "usr/bin/node", mode: 0o755, bytes: Buffer.from("program") },
  { type: "file", path: "etc/passwd", mode: 0o644, bytes: Buffer.from("root:x:0:0\n") },
  { type: "link", path: "lib", target: "usr/lib" },
  { type: "folder", path: "home/nonroot", mode: 0o700, owner: 65_532 },
  { type: "folder", path: "tmp", mode: 0o1777 },
];

describe("a layer", () => {
  test("has the same bytes for the same entries in any order", async () => {
    const { blob, diffId } = await createLayer("test", ENTRIES);
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...ENTRIES], { minLength: ENTRIES.length }), async (shuffled) => {
        const other = await createLayer("test", shuffled);
        expect(other.blob.descriptor.digest).toBe(blob.descriptor.digest);
        expect(other.diffId).toBe(diffId);
      }),
    );
  });

  test("has the digest it had on other machines and in earlier versions", async () => {
    const { blob, diffId } = await createLayer("test", ENTRIES);
    expect(diffId).toBe("sha256:21b2f227ce110a5beac146e022377dd960ffbea91cdebbf7a41f518ce01ad0a5");
    expect(blob.descriptor.digest).toBe("sha256:18940bd7cd6684f0014c87a9dc80906024d2b4cdad133ca46b0cc6109cb499d0");
  });

  test("is read by tar with modes, owners, links, parent folders, and without times", async () => {
    const { blob } = await createLayer("test", ENTRIES);
    const listing = execFileSync("tar", ["-tvzf", "-", "--numeric-owner", "--utc", "--full-time"], {
      input: blob.bytes,
      encoding: "utf8",
    });
    expect(
      listing
        .trim()
        .split("\n")
        .map((line) => line.replaceAll(/\s+/g, " ")),
    ).toEqual([
      "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 etc/",
      "-rw-r--r-- 0/0 11 1970-01-01 00:00:00 etc/passwd",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 home/",
      "drwx------ 65532/65532 0 1970-01-01 00:00:00 home/nonroot/",
      "lrwxrwxrwx 0/0 0 1970-01-01 00:00:00 lib -> usr/lib",
      "drwxrwxrwt 0/0 0 1970-01-01 00:00:00 tmp/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/",
      "drwxr-xr-x 0/0 0 1970-01-01 00:00:00 usr/bin/",
      "-rwxr-xr-x 0/0 7 1970-01-01 00:00:00 usr/bin/node",
    ]);
  });

  test("returns its entries when it is read", async () => {
    const { blob } = await createLayer("test", ENTRIES);
    const read = await readEntries(gunzipSync(blob.bytes));
    const written = withParents(ENTRIES).map((entry) => ({ ...entry, owner: undefined }));
    expect(
      read.map((entry) => (entry.type === "file" ? { ...entry, bytes: Buffer.from(entry.bytes) } : entry)),
    ).toEqual(written);
  });

  test.each([
    [
      "a path above the root",
      [{ type: "folder", path: "a/../../b", mode: 0o755 }],
      /"a\/..\/..\/b" is not a path below/,
    ],
    ["an absolute path", [{ type: "folder", path: "/etc", mode: 0o755 }], /"\/etc" is not a path below/],
    ["an empty path", [{ type: "folder", path: "", mode: 0o755 }], /"" is not a path below/],
    [
      "a path twice",
      [
        { type: "folder", path: "a", mode: 0o755 },
        { type: "link", path: "a", target: "b" },
      ],
      /"a" is in the layer twice/,
    ],
    [
      "a file below a link",
      [
        { type: "link", path: "lib", target: "usr/lib" },
        { type: "file", path: "lib/x", mode: 0o644, bytes: Buffer.from("") },
      ],
      /"lib" is not a folder, but contains "lib\/x"/,
    ],
  ] as const)("rejects %s", async (_, entries, message) => {
    await expect(createLayer("test", entries as readonly RootEntry[])).rejects.toThrow(message);
  });

  test("rejects devices and hard links of packages", async () => {
    const tar = await packTar([{ header: { name: "dev/null", type: "character-device", size: 0 } }]);
    await expect(readEntries(tar)).rejects.toThrow('"dev/null" is a character-device');
  });
});
