import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { explainInstallFailure } from "./explain.mjs";

/**
 * The used fields of a package in a lockfile.
 * @typedef {{ version?: string, optional?: boolean, link?: boolean }} LockedPackage
 * @typedef {{ packages: Record<string, LockedPackage> }} Lockfile
 */

/**
 * Installs from the lockfile if the installed packages differ. Concurrent runs install once.
 * @param {string} root
 * @param {(line: string) => void} print
 */
export async function ensureInstalled(root, print) {
  if (whyInstall(root) === undefined) return;
  const release = await lock(path.join(root, ".oaas"), print);
  try {
    const why = whyInstall(root);
    if (why === undefined) return;
    print(`Installing packages (${why}). This happens once; later runs start at once.`);
    await runNpmCi(root, print);
    const still = whyInstall(root);
    if (still !== undefined)
      throw new Error(`npm ci succeeded, but ${still}. Delete node_modules and run the command again.`);
  } finally {
    release();
  }
}

/**
 * Why an install is needed, or undefined. npm writes its lockfile to node_modules in its last step, so an interrupted
 * install has none.
 * @param {string} root
 * @returns {string | undefined}
 */
export function whyInstall(root) {
  const wanted = readLockfile(path.join(root, "package-lock.json"));
  if (!wanted)
    throw new Error("package-lock.json is missing or unreadable: the clone is incomplete. Clone the repository again.");
  const installed = readLockfile(path.join(root, "node_modules", ".package-lock.json"));
  if (!installed) return "nothing is installed yet";
  return firstDifference(wanted, installed);
}

/**
 * The first package that differs from the lockfile. Optional packages may be absent (other platforms).
 * @param {Lockfile} wanted
 * @param {Lockfile} installed
 * @returns {string | undefined}
 */
export function firstDifference(wanted, installed) {
  for (const [place, entry] of Object.entries(wanted.packages)) {
    if (!place.startsWith("node_modules/")) continue;
    const present = installed.packages[place];
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    if (!present && !entry.optional) return `${name} is not installed`;
    if (present && !entry.link && present.version !== entry.version) {
      return `${name} is ${present.version}, the lockfile has ${entry.version}`;
    }
  }
  return undefined;
}

/**
 * @param {string} file
 * @returns {Lockfile | undefined}
 */
function readLockfile(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} root
 * @param {(line: string) => void} print
 * @returns {Promise<void>}
 */
function runNpmCi(root, print) {
  const npm = process.env["npm_execpath"];
  const args = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const child = npm?.endsWith(".js")
    ? spawn(process.execPath, [npm, ...args], { cwd: root, stdio: ["ignore", "pipe", "pipe"] })
    : spawn("npm", args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], shell: process.platform === "win32" });
  let output = "";
  const keep = /** @param {Buffer} chunk */ (chunk) => void (output += chunk.toString());
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const stopProgress = showProgress(root, print);
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      stopProgress();
      reject(new Error(`npm could not be started (${error.message}). Install Node with npm.`));
    });
    child.on("close", (code) => {
      stopProgress();
      if (code === 0) return resolve();
      const { meaning, remedy } = explainInstallFailure(output);
      const tail = output.trim().split("\n").slice(-15).join("\n");
      reject(new Error(`${tail}\n\n${meaning}\nFix: ${remedy}`));
    });
  });
}

/**
 * Prints the number of installed packages until it is stopped.
 * @param {string} root
 * @param {(line: string) => void} print
 * @returns {() => void}
 */
function showProgress(root, print) {
  const lockfile = readLockfile(path.join(root, "package-lock.json"));
  const places = Object.entries(lockfile?.packages ?? {})
    .filter(([place, entry]) => place.startsWith("node_modules/") && !entry.optional)
    .map(([place]) => path.join(root, place));
  const started = Date.now();
  const live = process.stderr.isTTY;
  const line = () => {
    const done = places.filter((place) => existsSync(path.join(place, "package.json"))).length;
    return `  ${done} of ${places.length} packages, ${Math.round((Date.now() - started) / 1000)} s`;
  };
  const timer = setInterval(() => (live ? process.stderr.write(`\r${line()} `) : print(line())), live ? 500 : 10_000);
  return () => {
    clearInterval(timer);
    if (live) process.stderr.write("\r");
    print(line());
  };
}

/**
 * Acquires the install lock; waits for another process that holds it, and takes over the lock of a dead process.
 * @param {string} folder
 * @param {(line: string) => void} print
 * @returns {Promise<() => void>}
 */
async function lock(folder, print) {
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "install.lock");
  let hasPrinted = false;
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx" });
      return () => rmSync(file, { force: true });
    } catch {
      const holder = Number(readFileSync(file, "utf8").trim() || "0");
      if (!isAlive(holder)) rmSync(file, { force: true });
      else {
        if (!hasPrinted) print(`Another process (${holder}) is installing; waiting for it.`);
        hasPrinted = true;
        await new Promise((resolve) => void setTimeout(resolve, 300));
      }
    }
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
}
