#!/usr/bin/env node
// The first thing that runs on a fresh machine, by whatever Node is there (18 or later), with nothing installed.
// It installs from the lockfile when needed, finds the Node the project runs on, and hands over to tools/run.ts.
import { fileURLToPath } from "node:url";
import path from "node:path";
import { findNode } from "./bootstrap/find-node.mjs";
import { handOver } from "./bootstrap/hand-over.mjs";
import { ensureInstalled } from "./bootstrap/install.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

const major = Number(process.versions.node.split(".")[0]);
if (major < 18) {
  say(`This needs Node 18 or later to get going; this is ${process.version}. Install a current Node and run it again.`);
  process.exit(1);
}

try {
  await ensureInstalled(root, say);
  const node = findNode(root);
  process.exit(await handOver(root, node, process.argv.slice(2)));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
