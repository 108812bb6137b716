import type { RootEntry } from "../oci/layer.ts";
import type { UnpackedPackage } from "./debian.ts";

/** The user of the programs. Manifests of Kubernetes need the number to verify that it is not root. */
export const USER_ID = 65_532;

/** The file with all certificate authorities, which Node reads through `SSL_CERT_FILE`. */
export const CA_FILE = "etc/ssl/certs/ca-certificates.crt";

/** What is taken of each package: the libraries that Node links, certificate authorities, and every license text. */
const TAKEN: Readonly<Record<string, readonly RegExp[]>> = {
  "base-files": [/^(lib|lib64)$/, /^(etc|usr\/lib)\/os-release$/],
  "ca-certificates": [],
  "gcc-14-base": [],
  libc6: [/^usr\/lib(64)?\/([^/]+\/)?ld-linux-[^/]+$/, /^usr\/lib\/[^/]+\/lib(c|dl|m|pthread)\.so\.\d$/],
  "libgcc-s1": [/^usr\/lib\/[^/]+\/libgcc_s\.so\.1$/],
  "libstdc++6": [/^usr\/lib\/[^/]+\/libstdc\+\+\.so\.6[.\d]*$/],
};

export const BASE_PACKAGES: readonly string[] = Object.keys(TAKEN);

const LICENSE = /^usr\/share\/doc\/[^/]+(\/copyright)?$/;
const AUTHORITY = /^usr\/share\/ca-certificates\/mozilla\/[^/]+\.crt$/;

const ACCOUNTS = `root:x:0:0:root:/root:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
nonroot:x:${USER_ID}:${USER_ID}:nonroot:/home/nonroot:/usr/sbin/nologin
`;
const GROUPS = `root:x:0:
nogroup:x:65534:
nonroot:x:${USER_ID}:
`;

/** The root file system without Node: shared libraries, certificate authorities and accounts. It has no shell. */
export function createBaseRoot(packages: readonly UnpackedPackage[]): readonly RootEntry[] {
  const missing = BASE_PACKAGES.filter((name) => !packages.some((one) => one.name === name));
  if (missing.length > 0) throw new Error(`debian-packages.json has no ${missing.join(", ")}`);
  return [
    ...packages.flatMap(takeFrom),
    ...packages.map(statusOf),
    { type: "file", path: CA_FILE, mode: 0o644, bytes: Buffer.concat(authoritiesOf(packages)) },
    text("etc/passwd", ACCOUNTS),
    text("etc/group", GROUPS),
    text("etc/nsswitch.conf", "hosts: files dns\n"),
    { type: "folder", path: "home/nonroot", mode: 0o700, owner: USER_ID },
    { type: "folder", path: "tmp", mode: 0o1777 },
  ];
}

function takeFrom({ name, entries }: UnpackedPackage): readonly RootEntry[] {
  const patterns = [...(TAKEN[name] ?? []), LICENSE];
  const taken = entries.filter(({ type, path }) => type !== "folder" && patterns.some((pattern) => pattern.test(path)));
  for (const pattern of TAKEN[name] ?? []) {
    if (!taken.some(({ path }) => pattern.test(path))) throw new Error(`${name} has no file that matches ${pattern}`);
  }
  return taken.map((entry) => (entry.type === "file" ? { ...entry, mode: entry.mode & 0o111 ? 0o755 : 0o644 } : entry));
}

/** The record of an installed package in the form that scanners read in images without dpkg. */
function statusOf({ name, control }: UnpackedPackage): RootEntry {
  return text(`var/lib/dpkg/status.d/${name}`, control);
}

function authoritiesOf(packages: readonly UnpackedPackage[]): readonly Uint8Array[] {
  const found = packages
    .flatMap(({ entries }) => entries)
    .flatMap((entry) => (entry.type === "file" && AUTHORITY.test(entry.path) ? [entry] : []));
  if (found.length === 0) throw new Error("ca-certificates has no certificates");
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1)).map(({ bytes }) => bytes);
}

function text(path: string, content: string): RootEntry {
  return { type: "file", path, mode: 0o644, bytes: Buffer.from(content) };
}
