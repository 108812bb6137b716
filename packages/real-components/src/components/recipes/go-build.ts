import { cp, mkdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { GO_MODULES, onPath } from "../cache.ts";
import type { GoBuild, ModuleFiles } from "../component.ts";
import { NotObtained } from "../not-obtained.ts";
import { runStep, type Workshop } from "../step.ts";

/** Stripped, without paths of this machine; kubectl and its like report the version that is linked in here. */
const BUILD_FLAGS = ["-trimpath", "-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"];
const ENV = { CGO_ENABLED: "0", GOFLAGS: "-buildvcs=false", GOWORK: "off" };

/** Builds the binaries of one of our Go modules. A killed build resumes from Go's own build cache. */
export async function makeGoBuild(recipe: GoBuild, workshop: Workshop): Promise<void> {
  const go = onPath("go");
  if (go === undefined) {
    throw new NotObtained(
      "Go is not installed",
      'install Go 1.26 or newer so that "go version" works, then run it again',
    );
  }
  const module = join(GO_MODULES, recipe.module);
  const bin = join(workshop.folder, "bin");
  await mkdir(bin, { recursive: true });
  await runStep(workshop, {
    title: "building",
    command: go,
    args: ["build", "-v", ...BUILD_FLAGS, "-o", `${bin}/`, ...Object.values(recipe.binaries)],
    cwd: module,
    env: ENV,
    hint: compiledSoFar,
  });
  for (const [name, path] of Object.entries(recipe.binaries)) {
    if (builtName(path) !== name) await rename(join(bin, builtName(path)), join(bin, name));
  }
  if (recipe.moduleFiles) await copyModuleFiles(recipe.moduleFiles, { go, module, workshop });
}

/** Go names a binary after the last part of its package's path that is not a major version. */
function builtName(packagePath: string): string {
  return basename(packagePath.replace(/\/v\d+$/, ""));
}

function compiledSoFar(output: string): string {
  const lines = output.split("\n").filter((line) => line !== "");
  const downloads = lines.filter((line) => line.startsWith("go: downloading")).length;
  const compiled = lines.length - downloads;
  if (lines.length === 0) return "nothing to download or compile so far";
  return compiled > 0 ? `${compiled} packages compiled` : `${downloads} modules downloaded`;
}

async function copyModuleFiles(
  wanted: ModuleFiles,
  from: { readonly go: string; readonly module: string; readonly workshop: Workshop },
): Promise<void> {
  const output = await runStep(from.workshop, {
    title: `locating the files of ${wanted.module}`,
    command: from.go,
    args: ["list", "-m", "-f", "{{.Dir}}", wanted.module],
    cwd: from.module,
    env: ENV,
  });
  const source = output.trim().split("\n").at(-1) ?? "";
  for (const file of wanted.files) {
    const target = join(from.workshop.folder, "files", file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(source, file), target);
  }
}
