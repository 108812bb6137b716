import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { runCommand } from "../process/client-command.ts";
import { writeImageArchive, type ImageSpec } from "./image-archive.ts";
import { librariesIn, nodeProgramImage } from "./node-images.ts";

describe("librariesIn", () => {
  it("lists the libraries and the loader, but nothing that the kernel provides", () => {
    const output = `\tlinux-vdso.so.1 (0x00007f)
\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f0)
\tlibgone.so.1 => not found
\t/lib64/ld-linux-x86-64.so.2 (0x00007f1)
`;
    expect(librariesIn(output).map((file) => file.path)).toEqual([
      "lib/x86_64-linux-gnu/libm.so.6",
      "lib64/ld-linux-x86-64.so.2",
    ]);
  });
});

describe("writeImageArchive", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-image-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const source = path.join(folder, "node");
  writeFileSync(source, "not really node", { mode: 0o600 });
  const shared = [{ path: "usr/bin/node", source, executable: true }];
  const image = (name: string): ImageSpec =>
    nodeProgramImage(name, shared, { files: [{ path: "app/main.mjs", content: `// ${name}` }], main: "/app/main.mjs" });

  it("writes the same bytes for the same input, and each layer once", async () => {
    const [one, two] = [path.join(folder, "one.tar"), path.join(folder, "two.tar")];
    await writeImageArchive([image("a:1"), image("b:1")], one);
    await writeImageArchive([image("a:1"), image("b:1")], two);
    const digest = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
    expect(digest(two)).toBe(digest(one));
    const { stdout } = await runCommand("tar", ["-tf", one]);
    expect(stdout.split("\n").filter((name) => name.endsWith(".tar"))).toHaveLength(3);
  });

  it("writes a manifest whose layers have the digests of the configuration", async () => {
    const file = path.join(folder, "image.tar");
    await writeImageArchive([image("a:1")], file);
    const unpacked = path.join(folder, "unpacked");
    await runCommand("sh", ["-c", 'mkdir "$1" && tar -xf "$0" -C "$1"', file, unpacked]);
    const read = (name: string): Buffer => readFileSync(path.join(unpacked, name));
    const [entry] = JSON.parse(read("manifest.json").toString()) as {
      Config: string;
      RepoTags: string[];
      Layers: string[];
    }[];
    const config = JSON.parse(read(entry?.Config ?? "").toString()) as {
      rootfs: { diff_ids: string[] };
      config: object;
    };
    const digests = entry?.Layers.map((layer) => `sha256:${createHash("sha256").update(read(layer)).digest("hex")}`);
    expect(config.rootfs.diff_ids).toEqual(digests);
    expect(config.config).toMatchObject({ User: "65532:65532", Entrypoint: ["/usr/bin/node", "/app/main.mjs"] });
    const { stdout } = await runCommand("tar", ["-tvf", path.join(unpacked, entry?.Layers[0] ?? "")]);
    expect(stdout).toMatch(/^-rwxr-xr-x 0\/0 .* usr\/bin\/node$/m);
  });
});
