import { globSync } from "node:fs";
import path from "node:path";
import { staleCommits } from "../commits/history.ts";
import { GENERATORS } from "../generate/list.ts";
import { checkAdvisories, type AdvisoryResult } from "../supply-chain/advisories.ts";
import { checkPackages } from "../supply-chain/check-packages.ts";
import { Lockfile } from "../supply-chain/lockfile.ts";
import { readAdvisories } from "./advisories.ts";
import { capture } from "./command.ts";
import { staleFiles } from "./generate.ts";
import { ROOT } from "./root.ts";
import { runVitest } from "./vitest.ts";

/** A static check: returns an empty text, or the problem and its fix. */
interface StaticCheck {
  readonly name: string;
  readonly run: () => Promise<string>;
  /** What the check does not cover, if anything. */
  readonly notice?: () => string | undefined;
}

const STATIC_CHECKS: readonly StaticCheck[] = [
  command("format", "oxfmt", ["--check"], "npm run fix"),
  command("lint", "oxlint", [], "npm run fix fixes some of it"),
  command("types", "tsc", ["-p", "."], undefined),
  command("types of the console", "tsc", ["-p", "apps/console"], undefined),
  command("unused code", "knip", ["--no-progress", "--no-config-hints"], "remove unused code"),
  { name: "generated files", run: generatedFresh },
  { name: "lockfile", run: lockfileClean },
  { name: "packages and licenses", run: packagesAllowed },
  {
    name: "advisories",
    run: async () => knownAdvisories().problems.join("\n"),
    notice: () => knownAdvisories().notice,
  },
  { name: "commit messages", run: staleCommits },
];

/** Runs all static checks in parallel, because none of them uses every core, and prints the results in order. */
export async function runStaticChecks(): Promise<{ passed: number; failed: number }> {
  let failed = 0;
  for (const outcome of STATIC_CHECKS.map((check) => timed(check))) {
    const { name, problem, seconds, notice } = await outcome;
    console.log(`${problem ? "✗" : "✓"} ${name} (${seconds} s)`);
    if (notice !== undefined) console.log(indent(notice));
    if (problem) {
      failed += 1;
      console.log(indent(problem));
    }
  }
  return { passed: STATIC_CHECKS.length - failed, failed };
}

interface CheckOutcome {
  readonly name: string;
  readonly problem: string;
  readonly seconds: string;
  readonly notice: string | undefined;
}

/** A check that throws has failed. */
async function timed({ name, run, notice }: StaticCheck): Promise<CheckOutcome> {
  const started = performance.now();
  const problem = await run().catch((error: unknown) => String(error));
  return { name, problem, seconds: ((performance.now() - started) / 1000).toFixed(1), notice: notice?.() };
}

/**
 * `npm run check`: all checks that need only Node, and controllers on the embedded API server if kubectl is available.
 */
export async function check(): Promise<number> {
  const statics = await runStaticChecks();
  const suites = await runVitest(["unit", "embedded"], {});
  const failed = statics.failed + suites.failed;
  console.log(`${statics.passed + suites.passed} passed, ${failed} failed, ${suites.skipped} skipped`);
  return failed === 0 ? 0 : 1;
}

/** Linter and compiler are short-lived Go programs that spend a quarter of their time on garbage collection. */
const COLLECT_LATE = { GOGC: "off", GOMEMLIMIT: "3GiB" };

function command(name: string, program: string, args: readonly string[], remedy: string | undefined): StaticCheck {
  return {
    name,
    run: async () => {
      const { exitCode, output } = await capture(program, args, { env: COLLECT_LATE });
      if (exitCode === 0) return "";
      return remedy === undefined ? output : `${output}\nFix: ${remedy}`;
    },
  };
}

async function generatedFresh(): Promise<string> {
  const lines: string[] = [];
  for (const generator of GENERATORS) {
    for (const { file, problem } of await staleFiles(generator))
      lines.push(`${file} is ${problem} (${generator.name})`);
  }
  return lines.length === 0 ? "" : `${lines.join("\n")}\nFix: npm run generate, then commit`;
}

/** A lockfile with URLs would tie every clone to one registry. */
async function lockfileClean(): Promise<string> {
  const { output } = await capture("git", ["grep", "-nE", '"resolved": "https?:', "--", "package-lock.json"]);
  return output.trim() === "" ? "" : `${output}\nFix: npm install --omit-lockfile-registry-resolved`;
}

async function packagesAllowed(): Promise<string> {
  const apps = globSync("apps/*/src/main.{ts,tsx}", { cwd: ROOT }).map((main) => path.dirname(path.dirname(main)));
  return checkPackages(Lockfile.read(ROOT), apps).join("\n");
}

function knownAdvisories(): AdvisoryResult {
  return checkAdvisories(Lockfile.read(ROOT), readAdvisories(), new Date().toISOString().slice(0, 10));
}

function indent(text: string): string {
  return text.trimEnd().replaceAll(/^/gm, "    ");
}
