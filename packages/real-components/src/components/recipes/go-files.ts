import { cp, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { GoFiles, ModuleFiles } from "../component.ts";
import { runStep, type RecipeContext } from "../step.ts";
import { GO_ENV, goModule, type GoModule } from "./go-module.ts";

/** Downloads modules and copies files from them. */
export async function makeGoFiles(recipe: GoFiles, context: RecipeContext): Promise<void> {
  const module = goModule(recipe.module);
  await runStep(context, {
    title: "downloading",
    command: module.go,
    args: ["mod", "download", ...recipe.moduleFiles.map((wanted) => wanted.module)],
    cwd: module.folder,
    env: GO_ENV,
  });
  for (const wanted of recipe.moduleFiles) await copyModuleFiles(wanted, module, context);
}

/** Copies files of a downloaded module. */
export async function copyModuleFiles(
  wanted: ModuleFiles,
  { go, folder }: GoModule,
  context: RecipeContext,
): Promise<void> {
  const output = await runStep(context, {
    title: `locating the files of ${wanted.module}`,
    command: go,
    args: ["list", "-m", "-f", "{{.Dir}}", wanted.module],
    cwd: folder,
    env: GO_ENV,
  });
  const source = output.trim().split("\n").at(-1) ?? "";
  for (const file of wanted.files) {
    const target = join(context.folder, "files", file);
    await mkdir(dirname(target), { recursive: true });
    await cp(join(source, file), target);
  }
}
