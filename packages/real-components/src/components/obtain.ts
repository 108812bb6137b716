import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unreachable } from "@oaas/foundation";
import { cacheDir, componentFolder, fileIn, isPresent } from "./cache/cache.ts";
import type { Component } from "./component.ts";
import { takeLock } from "./cache/lock.ts";
import type { ComponentName } from "./manifest.ts";
import { explainSystemError, ObtainError, type ComponentReport, type ComponentState } from "./obtain-error.ts";
import { makeDebianExtract } from "./recipes/debian-extract.ts";
import { makeGoBuild } from "./recipes/go-build.ts";
import { makeGoFiles } from "./recipes/go-files.ts";
import { makeHostCommand } from "./recipes/host-command.ts";
import { runStep, type RecipeContext } from "./step.ts";

/** Executes a recipe in the folder of the context. */
type Make = (component: Component, context: RecipeContext) => Promise<void>;

export interface ObtainOptions {
  readonly cache?: string;
  /** Receives the progress. */
  readonly onProgress?: (text: string) => void;
  /** Executes the recipe; replaced in tests. */
  readonly make?: Make;
}

/**
 * Obtains a component if it is missing.
 *
 * Flow: skip if present; lock; check again, because another process may have obtained it; remove leftovers of dead
 * attempts; build and verify it in a temporary folder; rename the folder.
 * Guarantees: a folder with the final name is complete; concurrent runs build once; a killed attempt does not block the
 * next one, and builds resume.
 */
export async function obtain(component: Component, options: ObtainOptions = {}): Promise<ComponentReport> {
  const base = { name: component.name as ComponentName, version: component.version };
  try {
    return { ...base, ...(await ensurePresent(component, options)) };
  } catch (error) {
    const cause = error instanceof ObtainError ? error : explainSystemError(error);
    if (cause === undefined) throw error;
    return { ...base, state: "missing", reason: cause.message, remedy: cause.remedy };
  }
}

async function ensurePresent(component: Component, options: ObtainOptions): Promise<ComponentState> {
  const { cache = cacheDir(), onProgress = () => undefined, make = executeRecipe } = options;
  if (isPresent(component, cache)) return { state: "present" };
  const begun = performance.now();
  const folder = componentFolder(component, cache);
  const id = basename(folder);
  using _lock = await takeLock(join(cache, "locks", id), (owner) => onProgress(`waiting for another run (${owner})`));
  if (isPresent(component, cache)) return { state: "present" };
  const attempt = join(cache, "attempts", `${id}.${process.pid}`);
  const context = { folder: attempt, cache, logFile: join(cache, "logs", `${id}.log`), onProgress };
  await removeLeftovers(context, folder);
  try {
    await make(component, context);
    await verify(component, context);
    await finish(component, context.folder, folder);
  } finally {
    await rm(context.folder, { recursive: true, force: true });
  }
  return { state: "obtained", elapsedMs: performance.now() - begun };
}

async function executeRecipe({ recipe }: Component, context: RecipeContext): Promise<void> {
  switch (recipe.kind) {
    case "go-build":
      return makeGoBuild(recipe, context);
    case "go-files":
      return makeGoFiles(recipe, context);
    case "debian-extract":
      return makeDebianExtract(recipe, context);
    case "host-command":
      return makeHostCommand(recipe, context);
    default:
      return unreachable(recipe);
  }
}

/** Rejects a program that does not run or has another version than declared. */
async function verify(component: Component, context: RecipeContext): Promise<void> {
  if (component.proof === undefined) return;
  const { file, args, contains } = component.proof;
  const path =
    component.recipe.kind === "host-command"
      ? fileIn(component, file)
      : join(context.folder, component.files[file] ?? "");
  if (path === undefined) throw new ObtainError(`${file} is still not on PATH`, "check the log of the installation");
  const output = await runStep(context, { title: `trying ${file}`, command: path, args, cwd: context.folder });
  if (output.includes(contains)) return;
  throw new ObtainError(
    `the output of ${file} does not contain "${contains}": ${output.trim().slice(0, 200)}`,
    "another version is available now: update the version in the manifest after the tests pass with it",
  );
}

async function finish(component: Component, attempt: string, folder: string): Promise<void> {
  if (component.recipe.kind === "host-command") return;
  await writeFile(
    join(attempt, "obtained.json"),
    `${JSON.stringify({ name: component.name, version: component.version, recipe: component.recipe, at: new Date().toISOString() }, null, 2)}\n`,
  );
  await rename(attempt, folder);
}

/** Removes attempts and logs of dead processes; safe because we hold the lock. */
async function removeLeftovers(context: RecipeContext, folder: string): Promise<void> {
  const attempts = dirname(context.folder);
  for (const needed of [attempts, dirname(context.logFile), dirname(folder)]) await mkdir(needed, { recursive: true });
  const dead = (await readdir(attempts)).filter((entry) => entry.startsWith(`${basename(folder)}.`));
  for (const entry of dead) await rm(join(attempts, entry), { recursive: true, force: true });
  await rm(context.logFile, { force: true });
  await mkdir(context.folder);
}
