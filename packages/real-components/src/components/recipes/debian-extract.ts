import { chmod, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { DebianExtract } from "../component.ts";
import { runStep, type RecipeContext } from "../step.ts";
import { downloadPackages, requireDebian12 } from "./debian.ts";

/** Unpacks Debian packages into the component's folder without installing them. */
export async function makeDebianExtract(recipe: DebianExtract, context: RecipeContext): Promise<void> {
  await requireDebian12();
  const archives = join(context.folder, "archives");
  await mkdir(archives);
  await downloadPackages(recipe.packages, archives, context);
  for (const archive of await readdir(archives)) {
    await runStep(context, {
      title: `unpacking ${archive}`,
      command: "dpkg-deb",
      args: ["-x", join(archives, archive), context.folder],
      cwd: archives,
    });
  }
  await rm(archives, { recursive: true });
  await mkdir(join(context.folder, "bin"), { recursive: true });
  for (const [name, path] of Object.entries(recipe.commands)) {
    const wrapper = join(context.folder, "bin", name);
    await writeFile(wrapper, wrapperScript(path));
    await chmod(wrapper, 0o755);
  }
}

/** Puts the unpacked libraries first, so that the program runs without installing them. */
function wrapperScript(path: string): string {
  const libraries = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return `#!/bin/sh
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
export LD_LIBRARY_PATH="$root/usr/lib/${libraries}\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$root/${path}" "$@"
`;
}
