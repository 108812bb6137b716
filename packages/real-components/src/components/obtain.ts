import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { unreachable } from "@oaas/foundation";
import { cacheDir, componentFolder, fileIn, isPresent } from "./cache.ts";
import type { Component } from "./component.ts";
import { takeLock } from "./lock.ts";
import type { ComponentName } from "./manifest.ts";
import { explainSystemError, NotObtained, type ComponentReport, type ComponentState } from "./not-obtained.ts";
import { makeDebianExtract } from "./recipes/debian-extract.ts";
import { makeGoBuild } from "./recipes/go-build.ts";
import { makeGoFiles } from "./recipes/go-files.ts";
import { makeHostCommand } from "./recipes/host-command.ts";
import { runStep, type Workshop } from "./step.ts";

/** Turns a recipe into files in the workshop's folder. */
type Make = (component: Component, workshop: Workshop) => Promise<void>;

export interface ObtainOptions {
  readonly cache?: string;
  /** Told what is going on, in a few words. */
  readonly tell?: (text: string) => void;
  /** How recipes are carried out; tests give their own. */
  readonly make?: Make;
}

/**
 * Makes sure that a component is there.
 *
 * Flow: skip when present; lock; look again (the one we waited for may have made it); remove what dead attempts left;
 * make and prove it in a temporary folder; give it its final name.
 * Guarantees: a folder with the final name is whole; two that run at once make it once; a killed attempt is no obstacle
 * and, for builds, no lost work.
 */
export async function obtain(component: Component, options: ObtainOptions = {}): Promise<ComponentReport> {
  const base = { name: component.name as ComponentName, version: component.version };
  try {
    return { ...base, ...(await presentOrMade(component, options)) };
  } catch (error) {
    const why = error instanceof NotObtained ? error : explainSystemError(error);
    if (why === undefined) throw error;
    return { ...base, state: "missing", reason: why.message, remedy: why.remedy };
  }
}

async function presentOrMade(component: Component, options: ObtainOptions): Promise<ComponentState> {
  const { cache = cacheDir(), tell = () => undefined, make = makeByRecipe } = options;
  if (isPresent(component, cache)) return { state: "present" };
  const begun = performance.now();
  const folder = componentFolder(component, cache);
  const id = basename(folder);
  using _lock = await takeLock(join(cache, "locks", id), (owner) => tell(`waiting for another run (${owner})`));
  if (isPresent(component, cache)) return { state: "present" };
  const attempt = join(cache, "attempts", `${id}.${process.pid}`);
  const workshop = { folder: attempt, cache, logFile: join(cache, "logs", `${id}.log`), tell };
  await clearTheWay(workshop, folder);
  try {
    await make(component, workshop);
    await prove(component, workshop);
    await finish(component, workshop.folder, folder);
  } finally {
    await rm(workshop.folder, { recursive: true, force: true });
  }
  return { state: "obtained", elapsedMs: performance.now() - begun };
}

async function makeByRecipe({ recipe }: Component, workshop: Workshop): Promise<void> {
  switch (recipe.kind) {
    case "go-build":
      return makeGoBuild(recipe, workshop);
    case "go-files":
      return makeGoFiles(recipe, workshop);
    case "debian-extract":
      return makeDebianExtract(recipe, workshop);
    case "host-command":
      return makeHostCommand(recipe, workshop);
    default:
      return unreachable(recipe);
  }
}

/** A program that does not run, or is not the version that was declared, never gets into the cache. */
async function prove(component: Component, workshop: Workshop): Promise<void> {
  if (component.proof === undefined) return;
  const { file, args, says } = component.proof;
  const path =
    component.recipe.kind === "host-command"
      ? fileIn(component, file)
      : join(workshop.folder, component.files[file] ?? "");
  if (path === undefined)
    throw new NotObtained(`${file} is still not on the PATH`, "look at the log of the installation");
  const output = await runStep(workshop, { title: `trying ${file}`, command: path, args, cwd: workshop.folder });
  if (output.includes(says)) return;
  throw new NotObtained(
    `${file} does not say "${says}" but: ${output.trim().slice(0, 200)}`,
    "another version is offered now: change the version in the manifest after the tests pass with it",
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

/** We hold the lock, so whoever left an attempt or a log of this component behind is dead. */
async function clearTheWay(workshop: Workshop, folder: string): Promise<void> {
  const attempts = dirname(workshop.folder);
  for (const needed of [attempts, dirname(workshop.logFile), dirname(folder)]) await mkdir(needed, { recursive: true });
  const dead = (await readdir(attempts)).filter((entry) => entry.startsWith(`${basename(folder)}.`));
  for (const entry of dead) await rm(join(attempts, entry), { recursive: true, force: true });
  await rm(workshop.logFile, { force: true });
  await mkdir(workshop.folder);
}
