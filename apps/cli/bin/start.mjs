import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { findNode, isNewEnough } from "../../../tools/bootstrap/find-node.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = newestProgram();

if (isNewEnough(process.versions.node)) {
  // The cache contains code that is executed, so it is in the user's folder instead of a shared one.
  const cache = process.env["OAAS_CACHE_DIR"] || path.join(homedir(), ".cache", "oaas");
  nodeModule.enableCompileCache(path.join(cache, "node-compile-cache"));
  await import(pathToFileURL(program).href);
} else {
  const { status, signal } = spawnSync(findNode(root), [program, ...process.argv.slice(2)], { stdio: "inherit" });
  process.exitCode = status ?? (signal === "SIGINT" ? 130 : 1);
}

/** The bundle, or the sources if there is no bundle or a source is newer. */
function newestProgram() {
  const bundle = path.join(root, "dist", "cli.mjs");
  const sources = path.join(root, "apps", "cli", "src", "main.ts");
  if (!existsSync(bundle)) return sources;
  const made = statSync(bundle).mtimeMs;
  const packages = ["contracts/src/rest", "foundation/src", "models/src", "stack-folder/src"];
  const parts = ["apps/cli/src", ...packages.map((part) => `packages/${part}`)];
  return parts.some((part) => isNewer(path.join(root, part), made)) ? sources : bundle;
}

/**
 * Whether a folder contains a change after a time.
 * @param {string} folder
 * @param {number} time
 */
function isNewer(folder, time) {
  const names = /** @type {string[]} */ (readdirSync(folder, { recursive: true }));
  // The mtime of the folder itself changes when a file is deleted.
  return ["", ...names].some((name) => statSync(path.join(folder, name)).mtimeMs > time);
}
