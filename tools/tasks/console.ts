import { createHash } from "node:crypto";
import { cpSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { capture } from "./command.ts";
import { ROOT } from "./root.ts";

const APP = path.join(ROOT, "apps", "console");
const CONSOLE_FILES = path.join(APP, "dist");

/** Outside of the built files, which a server may publish as they are. */
const STAMP = path.join(ROOT, "node_modules", ".cache", "console-digest");

/** Everything that changes the built files: sources, the packages they bundle, and the versions of all dependencies. */
const INPUTS = [
  "apps/console/{src,public}/**/*",
  "apps/console/{index.html,package.json,vite.config.ts}",
  "packages/contracts/src/rest/client/**/*.ts",
  "packages/foundation/src/yaml/*.ts",
  "package-lock.json",
];

/** Builds the console unless its built files are of the present sources. Returns the output of a failed build. */
export async function buildConsole(print: (line: string) => void): Promise<string | undefined> {
  const digest = inputDigest();
  if (digest === builtDigest()) return undefined;
  print("Building the console…");
  // Several programs may build at the same time, while others serve: each builds in its own folder, and none is half replaced.
  const folder = path.join(APP, `.dist-${process.pid}`);
  try {
    const build = ["run", "build", "--workspace", "@oaas/console", "--silent", "--", "--outDir", folder];
    // Vite builds React for development when a test runner has set another NODE_ENV.
    const { exitCode, output } = await capture("npm", build, { env: { NODE_ENV: "production" } });
    if (exitCode !== 0) return output;
    if (digest !== builtDigest()) replaceFiles(folder);
    mkdirSync(path.dirname(STAMP), { recursive: true });
    writeFileSync(STAMP, digest);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function replaceFiles(built: string): void {
  const old = `${built}.old`;
  try {
    renameSync(CONSOLE_FILES, old);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  renameSync(built, CONSOLE_FILES);
  rmSync(old, { recursive: true, force: true });
}

/** A missing file is a change too, because its name is part of the digest. */
function inputDigest(): string {
  const hash = createHash("sha256");
  const files = globSync(INPUTS, { cwd: ROOT, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const file of files.map((entry) => path.join(entry.parentPath, entry.name)).toSorted()) {
    if (/\.test\.tsx?$/.test(file)) continue;
    hash
      .update(`${path.relative(ROOT, file)}\0`)
      .update(readFileSync(file))
      .update("\0");
  }
  return hash.digest("hex");
}

function builtDigest(): string | undefined {
  try {
    readFileSync(path.join(CONSOLE_FILES, "index.html"));
    return readFileSync(STAMP, "utf8");
  } catch {
    return undefined;
  }
}

/** `npm run console`: builds the console when its sources changed. */
export async function consoleTask(): Promise<number> {
  const problem = await buildConsole((line) => console.error(line));
  if (problem !== undefined) console.error(problem);
  return problem === undefined ? 0 : 1;
}

/** Builds before a program that serves the console. A failed build is reported, and the program starts without it. */
export function withConsole(
  task: (args: readonly string[]) => Promise<number>,
): (args: readonly string[]) => Promise<number> {
  return async (args) => {
    const isQuestion = args.some((arg) => arg === "--help" || arg === "--version" || arg.startsWith("--print-config"));
    const problem = isQuestion ? undefined : await buildConsole((line) => console.error(line));
    if (problem !== undefined) console.error(`Building the console failed; it starts without a new one.\n${problem}`);
    return task(args);
  };
}

/** Copies the built console next to the bundle of the package manager, which serves it from there. */
export async function bundleConsole(out: string): Promise<void> {
  const problem = await buildConsole((line) => console.log(line));
  if (problem !== undefined) throw new Error(`building the console failed:\n${problem}`);
  cpSync(CONSOLE_FILES, path.join(out, "console"), { recursive: true });
}
