import { spawn } from "node:child_process";
import path from "node:path";

/** Interval of the check whether the parent process has ended. */
const POLL_MS = 500;

/**
 * Runs the task in the project's Node and returns its exit code. A signal to this process shuts the task down
 * gracefully.
 *
 * Ctrl-C reaches every process of the terminal, but a SIGINT may also be sent to this process only: the task is notified
 * and knows whether it got one itself. npm sends signals to the shell between it and this process, which ends without
 * forwarding them: the end of the parent process is then the signal.
 * @param {string} root
 * @param {string} node
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
export function handOver(root, node, args) {
  const bin = path.join(root, "node_modules", ".bin");
  const child = spawn(node, [path.join(root, "tools", "run.ts"), ...args], {
    // The task detects through the closed IPC channel that this process was killed.
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: {
      ...process.env,
      PATH: [path.dirname(node), bin, process.env["PATH"]].join(path.delimiter),
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? path.join(root, "node_modules", ".cache", "node"),
    },
  });
  process.on("SIGINT", () => child.connected && child.send("SIGINT"));
  for (const signal of /** @type {const} */ (["SIGTERM", "SIGHUP"])) process.on(signal, () => child.kill(signal));
  if (process.env["npm_lifecycle_event"] !== undefined) watchParent(() => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

/** @param {() => void} onOrphaned */
function watchParent(onOrphaned) {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onOrphaned();
  }, POLL_MS);
}
