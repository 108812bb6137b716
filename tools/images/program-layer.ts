import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import type { LockedPackage, Lockfile } from "../supply-chain/lockfile.ts";
import type { RootEntry } from "./oci/layer.ts";
import { PROGRAM_FOLDER, type Program } from "./programs.ts";

/** The files of a program: its bundle, its static files, and licenses. `bundles` is an output folder of `npm run bundle`. */
export function collectProgram(
  program: Program,
  bundles: string,
  root: string,
  lockfile: Lockfile,
): readonly RootEntry[] {
  const registryPackages = lockfile.closureOf(`apps/${program.app}`).filter(({ isOwn }) => !isOwn);
  return [
    file(`${PROGRAM_FOLDER}/${program.app}.mjs`, readFileSync(path.join(bundles, `${program.app}.mjs`))),
    ...program.staticFolders.flatMap((name) => readStaticFolder(name, path.join(bundles, name))),
    file("usr/share/doc/oaas/LICENSE", readFileSync(path.join(root, "LICENSE"))),
    file("usr/share/doc/oaas/third-party-licenses.txt", Buffer.from(licenseTexts(registryPackages, root))),
    ...program.folders,
  ];
}

/** A program finds its static files next to its bundle, in the image as in the output of `npm run bundle`. */
function readStaticFolder(name: string, folder: string): readonly RootEntry[] {
  const files = globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/"));
  if (files.length === 0) throw new Error(`${folder} has no files, which the image needs`);
  return files.map((one) => file(`${PROGRAM_FOLDER}/${name}/${one}`, readFileSync(path.join(folder, one))));
}

/** The license of every package in a bundle; most licenses require it in copies. */
export function licenseTexts(packages: readonly LockedPackage[], root: string): string {
  return packages
    .map(({ folder, name, version, license }) => {
      const [found] = globSync("{LICEN[CS]E,licen[cs]e,COPYING}*", { cwd: path.join(root, folder) }).toSorted();
      const text = found === undefined ? "" : readFileSync(path.join(root, folder, found), "utf8").trim();
      return `${name} ${version} (${license ?? "no license"})\n\n${text === "" ? "The package has no license file." : text}\n`;
    })
    .join(`\n${"-".repeat(80)}\n\n`);
}

function file(target: string, bytes: Uint8Array): RootEntry {
  return { type: "file", path: target, mode: 0o644, bytes };
}
