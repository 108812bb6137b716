import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { advisoriesFromAudit, packagesDigest, type AdvisoryFile } from "../supply-chain/advisories.ts";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { ROOT } from "./root.ts";

const FILE = path.join(ROOT, "tools", "supply-chain", "advisories.json");

/** Reads the committed advisories. */
export function readAdvisories(): AdvisoryFile {
  return JSON.parse(readFileSync(FILE, "utf8")) as AdvisoryFile;
}

/** `npm run advisories`: fetches the advisories of all packages with `npm audit`, and keeps the accepted ones. */
export async function advisories(): Promise<number> {
  try {
    const found = advisoriesFromAudit(await auditReport());
    const { accepted } = readAdvisories();
    const fetched = new Date().toISOString().slice(0, 10);
    const file: AdvisoryFile = { fetched, packages: packagesDigest(Lockfile.read(ROOT)), advisories: found, accepted };
    writeFileSync(FILE, `${JSON.stringify(file, undefined, 2)}\n`);
    console.log(`${path.relative(ROOT, FILE)}: ${found.length} advisories`);
    return 0;
  } catch (error) {
    console.error(`fetch advisories failed, the file is unchanged: ${(error as Error).message}`);
    return 1;
  }
}

/** The standard output of npm, which exits with 1 when it finds vulnerabilities. */
function auditReport(): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile("npm", ["audit", "--json"], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 }, (error, stdout) => {
      if (stdout.trim() === "" && error) reject(new Error("npm audit failed", { cause: error }));
      else resolve(stdout);
    });
  });
}
