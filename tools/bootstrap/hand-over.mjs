import { spawn } from "node:child_process";
import path from "node:path";

/** How often it is looked whether whoever started us is still there. */
const LOOK_MS = 500;

/**
 * Runs the task in the project's Node and answers its exit code. Whatever is to end us ends the task, in order: we wait for it.
 *
 * Ctrl-C reaches every process of the terminal by itself, but a SIGINT may also be meant for us alone: the task is told, and knows whether it got
 * one. npm passes signals to the shell between it and us, which dies of them and tells nobody: that our parent is gone is then the signal.
 * @param {string} root
 * @param {string} node
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
export function handOver(root, node, args) {
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
  process.on("SIGINT", () => child.connected && child.send("SIGINT"));
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  if (process.env["npm_lifecycle_event"] !== undefined) onceOrphaned(() => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

/** @param {() => void} tell */
function onceOrphaned(tell) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    tell();
  }, LOOK_MS);
}
