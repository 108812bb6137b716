#!/usr/bin/env node
// Runs first on a fresh machine with any Node from 18 and without installed packages. Installs from the lockfile if
// needed, finds the Node of the project, and runs tools/run.ts.
import { fileURLToPath } from "node:url";
import path from "node:path";
import { findNode } from "./bootstrap/find-node.mjs";
import { handOver } from "./bootstrap/hand-over.mjs";
import { ensureInstalled } from "./bootstrap/install.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @param {string} line */
const print = (line) => process.stderr.write(`${line}\n`);

const major = Number(process.versions.node.split(".")[0]);
if (major < 18) {
  print(`Node 18 or later is required; this is ${process.version}. Install a current Node and run the command again.`);
  process.exit(1);
}

try {
  await ensureInstalled(root, print);
  const node = findNode(root);
  process.exit(await handOver(root, node, process.argv.slice(2)));
} catch (error) {
  print(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
