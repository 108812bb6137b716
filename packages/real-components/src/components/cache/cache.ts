import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { Component } from "../component.ts";

/** The folder of the Go modules of the recipes. */
export const GO_MODULES = join(import.meta.dirname, "../../../components");

/** The folder of all obtained components; outside the repository, so that clones share it. */
export function cacheDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const own = env["OAAS_CACHE_DIR"];
  if (own) return own;
  const xdg = env["XDG_CACHE_HOME"];
  return xdg ? join(xdg, "oaas") : join(homedir(), ".cache", "oaas");
}

/** The folder of one component. Each version and recipe has its own folder, so that branches do not interfere. */
export function componentFolder(component: Component, cache = cacheDir()): string {
  return join(cache, "components", `${component.name}-${component.version}-${recipeDigest(component)}`);
}

const digests = new WeakMap<Component, string>();

function recipeDigest(component: Component): string {
  const known = digests.get(component);
  if (known) return known;
  const hash = createHash("sha256").update(JSON.stringify([component.recipe, process.platform, process.arch]));
  for (const file of recipeInputs(component)) hash.update(readFileSync(file));
  const digest = hash.digest("hex").slice(0, 12);
  digests.set(component, digest);
  return digest;
}

function recipeInputs({ recipe }: Component): string[] {
  if (recipe.kind !== "go-build" && recipe.kind !== "go-files") return [];
  const module = join(GO_MODULES, recipe.module);
  const own = (recipe.kind === "go-build" ? (recipe.ownSources ?? []) : []).flatMap((folder) =>
    readdirSync(join(module, folder))
      .sort()
      .map((file) => join(module, folder, file)),
  );
  return [join(module, "go.mod"), join(module, "go.sum"), ...own];
}

/** The first executable of this name on PATH. */
export function onPath(command: string): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, command))
    .find((file) => existsSync(file));
}

/** The absolute path of a file of the component, existing or not. */
export function fileIn(component: Component, file: string, cache = cacheDir()): string | undefined {
  if (component.recipe.kind === "host-command") return onPath(component.recipe.command);
  const path = component.files[file];
  return path === undefined ? undefined : join(componentFolder(component, cache), path);
}

/** Whether the component is available. A folder gets its final name only when it is complete. */
export function isPresent(component: Component, cache = cacheDir()): boolean {
  const { recipe } = component;
  return recipe.kind === "host-command"
    ? onPath(recipe.command) !== undefined
    : existsSync(componentFolder(component, cache));
}
