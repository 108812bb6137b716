#!/usr/bin/env node
// Runs the command line from the sources, on the project's own Node if this one is too old for them.
import { spawnSync } from "node:child_process";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { findNode, isNewEnough } from "../../../tools/bootstrap/find-node.mjs";

const folder = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const main = path.join(folder, "src", "main.ts");

if (isNewEnough(process.versions.node)) await import(main);
else {
  const node = findNode(path.dirname(path.dirname(folder)));
  const { status, signal } = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
  process.exitCode = status ?? (signal === "SIGINT" ? 130 : 1);
}
