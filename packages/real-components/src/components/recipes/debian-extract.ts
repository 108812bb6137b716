import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianExtract } from "../component.ts";
import { runStep, type Workshop } from "../step.ts";
import { downloadPackages, requireDebian12 } from "./debian.ts";

/** Unpacks Debian packages into the component's folder; nothing is installed and no service started. */
export async function makeDebianExtract(recipe: DebianExtract, workshop: Workshop): Promise<void> {
  await requireDebian12();
  const archives = join(workshop.folder, "archives");
  await mkdir(archives);
  await downloadPackages(recipe.packages, archives, workshop);
  for (const archive of await readdir(archives)) {
    await runStep(workshop, {
      title: `unpacking ${archive}`,
      command: "dpkg-deb",
      args: ["-x", join(archives, archive), workshop.folder],
      cwd: archives,
    });
  }
  await rm(archives, { recursive: true });
  await mkdir(join(workshop.folder, "bin"), { recursive: true });
  for (const [name, path] of Object.entries(recipe.commands)) {
    const wrapper = join(workshop.folder, "bin", name);
    await writeFile(wrapper, wrapperScript(path));
    await chmod(wrapper, 0o755);
  }
}

/** The unpacked libraries come first, so that the program runs where they are not installed. */
function wrapperScript(path: string): string {
  const libraries = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return `#!/bin/sh
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
export LD_LIBRARY_PATH="$root/usr/lib/${libraries}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/${path}" "$@"
`;
}
