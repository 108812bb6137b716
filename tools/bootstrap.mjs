#!/usr/bin/env node
// The first thing that runs on a fresh machine, by whatever Node is there (18 or later), with nothing installed.
// It installs from the lockfile when needed, finds the Node the project runs on, and hands over to tools/run.ts.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { findNode } from "./bootstrap/find-node.mjs";
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
  process.exit(await handOver(node, process.argv.slice(2)));
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}

/**
 * Runs the task in the project's Node and answers its exit code. Signals are the child's to handle: it stops in order.
 * @param {string} node
 * @param {string[]} args
 * @returns {Promise<number>}
 */
function handOver(node, args) {
  const bin = path.join(root, "node_modules", ".bin");
  const child = spawn(node, [path.join(root, "tools", "run.ts"), ...args], {
    // By the end of the channel it learns that we were killed.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      PATH: [path.dirname(node), bin, process.env["PATH"]].join(path.delimiter),
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? path.join(root, "node_modules", ".cache", "node"),
    },
  });
  process.on("SIGINT", () => undefined);
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}
