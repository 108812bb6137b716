import { mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import type { GoBuild } from "../component.ts";
import { runStep, type RecipeContext } from "../step.ts";
import { copyModuleFiles } from "./go-files.ts";
import { GO_ENV, goModule } from "./go-module.ts";

/** Strips the binaries and removes local paths. kubectl and others report the version linked here. */
const BUILD_FLAGS = ["-trimpath", "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"];

/** Builds the binaries of one of our Go modules. A killed build resumes from the build cache of Go. */
export async function makeGoBuild(recipe: GoBuild, context: RecipeContext): Promise<void> {
  const { go, folder } = goModule(recipe.module);
  const bin = join(context.folder, "bin");
  await mkdir(bin, { recursive: true });
  await runStep(context, {
    title: "building",
    command: go,
    args: ["build", "-v", ...BUILD_FLAGS, "-o", `${bin}/`, ...Object.values(recipe.binaries)],
    cwd: folder,
    env: GO_ENV,
    hint: compiledSoFar,
  });
  for (const [name, path] of Object.entries(recipe.binaries)) {
    if (builtName(path) !== name) await rename(join(bin, builtName(path)), join(bin, name));
  }
  if (recipe.moduleFiles) await copyModuleFiles(recipe.moduleFiles, { go, folder }, context);
}

/** Go names a binary after the last part of its package path that is not a major version. */
function builtName(packagePath: string): string {
  return basename(packagePath.replace(/\/v\d+$/, ""));
}

function compiledSoFar(output: string): string {
  const lines = output.split("\n").filter((line) => line !== "");
  const downloads = lines.filter((line) => line.startsWith("go: downloading")).length;
  const compiled = lines.length - downloads;
  if (lines.length === 0) return "nothing downloaded or compiled yet";
  return compiled > 0 ? `${compiled} packages compiled` : `${downloads} modules downloaded`;
}
