/**
 * The cause and fix of an install failure, by the output of npm.
 * @type {readonly { pattern: RegExp, meaning: string, remedy: string }[]}
 */
const KNOWN = [
  {
    pattern: /ENOSPC|no space left/i,
    meaning: "The disk is full.",
    remedy: "Free about 600 MB (npm cache clean --force helps) and run the command again.",
  },
  {
    pattern: /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT/,
    meaning: "The package registry cannot be reached.",
    remedy: "Check the network, or set a proxy or mirror (npm config set proxy …, npm config set registry …).",
  },
  {
    pattern: /E40[13]|authentication|Unable to authenticate/i,
    meaning: "The package registry rejected the credentials.",
    remedy: "Log in to the registry that npm is configured for (npm login), or use the public one.",
  },
  {
    pattern: /EBADPLATFORM/,
    meaning: "A package does not exist for this operating system or processor.",
    remedy: "Linux (x64, arm64) and Windows (x64) are supported; elsewhere use a Linux container or virtual machine.",
  },
  {
    pattern: /EINTEGRITY/,
    meaning: "A package is not the one the lockfile was made with.",
    remedy:
      "Clear the npm cache (npm cache clean --force). If it persists, the registry serves another package: do not ignore it.",
  },
  {
    pattern: /can only install .* in sync|Missing: .* from lock file|EUSAGE/,
    meaning: "package.json and package-lock.json are out of sync.",
    remedy: "Run npm install, review the change of package-lock.json, and commit it with package.json.",
  },
  {
    pattern: /EACCES|EPERM|EROFS/,
    meaning: "npm has no write permission.",
    remedy: "Get write access to this folder and to the npm cache (npm config get cache).",
  },
];

/**
 * Derives the cause and the fix from the output of npm.
 * @param {string} output
 * @returns {{ meaning: string, remedy: string }}
 */
export function explainInstallFailure(output) {
  const known = KNOWN.find(({ pattern }) => pattern.test(output));
  return known
    ? { meaning: known.meaning, remedy: known.remedy }
    : {
        meaning: "npm could not install the packages.",
        remedy: "See the lines above for the reason, fix it, and run the command again.",
      };
}
