/**
 * What an install failure means and what to do, by what npm printed.
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
    meaning: "The package registry refused the credentials.",
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
      "Clear the npm cache (npm cache clean --force). If it stays, the registry serves something else: do not ignore it.",
  },
  {
    pattern: /can only install .* in sync|Missing: .* from lock file|EUSAGE/,
    meaning: "package.json and package-lock.json do not agree.",
    remedy: "Run npm install, look at the change of package-lock.json, and commit it with the change of package.json.",
  },
  {
    pattern: /EACCES|EPERM|EROFS/,
    meaning: "npm may not write here.",
    remedy: "Give yourself write access to this folder and to the npm cache (npm config get cache).",
  },
];

/**
 * Turns npm's output into a sentence about the cause and one about the remedy.
 * @param {string} output
 * @returns {{ meaning: string, remedy: string }}
 */
export function explainInstallFailure(output) {
  const known = KNOWN.find(({ pattern }) => pattern.test(output));
  return known
    ? { meaning: known.meaning, remedy: known.remedy }
    : {
        meaning: "npm could not install the packages.",
        remedy: "The lines above say why. Mend that and run it again.",
      };
}
