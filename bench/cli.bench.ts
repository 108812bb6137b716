import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bundleCli } from "../tools/tasks/bundle-cli.ts";
import { ROOT } from "../tools/tasks/root.ts";
import type { Bench, BenchReport } from "./harness.ts";

const ROUNDS = 41;
/** Goal: help within 1.3 times the start of Node; the floor is the inverse. */
const FLOOR = 1 / 1.3;

/** Start time of the CLI compared with bare Node, measured in turn. */
export const bench: Bench = {
  name: "cli",
  run: async (log): Promise<BenchReport> => {
    const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-cli-"));
    try {
      const bundle = path.join(folder, "cli.mjs");
      await bundleCli(bundle);
      const launcher = path.join(ROOT, "apps", "cli", "bin", "oaas.cjs");
      const home = { ...process.env, HOME: folder, NODE_COMPILE_CACHE: path.join(folder, "cache") };
      const starts: Readonly<Record<string, readonly string[]>> = {
        "node -e 0": ["-e", "0"],
        "oaas --help": [launcher, "--help"],
        "bundle --help": [bundle, "--help"],
        "bundle package --help": [bundle, "package", "--help"],
        "bundle context list (a whole command)": [bundle, "context", "list"],
      };
      for (const args of Object.values(starts)) execFileSync(process.execPath, args, { env: home, stdio: "ignore" });
      log(`${ROUNDS} starts of each, in turn`);
      const times = measure(starts, home);
      const bare = times.get("node -e 0") ?? Number.NaN;
      const share = (name: string): number => bare / (times.get(name) ?? Number.NaN);
      return {
        title: "The command line's start",
        measurements: [...times].map(([name, value]) => ({ name, value, unit: "ms", note: "median, wall" })),
        ratios: [
          {
            name: "bare Node / oaas --help",
            value: share("oaas --help"),
            floor: FLOOR,
            explains: "at most 1.3 × Node's own start",
          },
          {
            name: "bare Node / bundle --help",
            value: share("bundle --help"),
            floor: FLOOR,
            explains: "the same, of the single file",
          },
          {
            name: "bare Node / bundle context list",
            value: share("bundle context list (a whole command)"),
            explains: "a command without a request",
          },
        ],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function measure(
  starts: Readonly<Record<string, readonly string[]>>,
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, number> {
  const taken = new Map(Object.keys(starts).map((name) => [name, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, args] of Object.entries(starts)) {
      const before = performance.now();
      spawnSync(process.execPath, args, { env, stdio: "ignore" });
      taken.get(name)?.push(performance.now() - before);
    }
  }
  return new Map([...taken].map(([name, all]) => [name, all.toSorted((a, b) => a - b)[ROUNDS >> 1] ?? 0]));
}
