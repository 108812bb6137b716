import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/** The programs that the build stage of the Containerfile runs. */
const PROGRAMS = ["sh", "mv", "rm", "tar", "dpkg-deb", "env"];
/** Libraries that Node loads later: to resolve names, and for native packages. */
const LATER = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2", "librt.so.1", "libutil.so.1"];

/**
 * Makes a folder with Node, npm and a few programs of this machine: the base of the build stage, because the image in the
 * Containerfile cannot be downloaded without access to its registry.
 */
export function makeBaseTree(folder: string): void {
  for (const name of ["tmp", "root", "etc", "usr/bin", "usr/lib", "usr/lib64", "proc", "dev", "sys"])
    mkdirSync(path.join(folder, name), { recursive: true });
  chmodSync(path.join(folder, "tmp"), 0o1777);
  for (const name of ["bin", "lib", "lib64"]) symlinkSync(`usr/${name}`, path.join(folder, name));
  copyFileSync(process.execPath, path.join(folder, "usr", "bin", "node"));
  const libraries = new Set(librariesOf(process.execPath));
  for (const name of PROGRAMS) {
    const program = realpathSync(execFileSync("/bin/sh", ["-c", `command -v ${name}`], { encoding: "utf8" }).trim());
    copyFileSync(program, path.join(folder, "usr", "bin", name));
    for (const library of librariesOf(program)) libraries.add(library);
  }
  const places = [...new Set([...libraries].map((library) => path.dirname(library)))];
  for (const name of LATER) {
    const found = places.map((place) => path.join(place, name)).find((file) => existsSync(file));
    if (found !== undefined) libraries.add(found);
  }
  for (const library of libraries) copyLibrary(library, folder);
  copyNpm(folder);
  writeFileSync(path.join(folder, "etc", "passwd"), "root:x:0:0::/root:/bin/sh\n");
  writeFileSync(path.join(folder, "etc", "group"), "root:x:0:\n");
}

/** The loader and the libraries of a program, by the places where the loader looks for them. */
function librariesOf(program: string): readonly string[] {
  const listed = execFileSync("ldd", [program], { encoding: "utf8" });
  return [...listed.matchAll(/(?:=> |^\s*)(?<file>\/\S+) \(0x/gm)].map(({ groups }) => groups?.["file"] ?? "");
}

/** Top-level folders such as /lib are links into /usr. */
function copyLibrary(library: string, folder: string): void {
  const target = path.join(folder, library.replace(/^\/(?=lib)/, "/usr/"));
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(realpathSync(library), target);
}

function copyNpm(folder: string): void {
  const npm = realpathSync(execFileSync("/bin/sh", ["-c", "command -v npm"], { encoding: "utf8" }).trim());
  const modules = path.join(folder, "usr", "lib", "node_modules", "npm");
  cpSync(path.resolve(npm, "..", ".."), modules, { recursive: true, verbatimSymlinks: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", path.join(folder, "usr", "bin", "npm"));
}
