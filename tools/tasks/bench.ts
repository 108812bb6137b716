import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { arch, cpus, platform, release, totalmem } from "node:os";
import path from "node:path";
import type { Bench, BenchReport } from "../../bench/harness.ts";
import { ensureComponents } from "../components.ts";
import { ROOT } from "./root.ts";

/** `npm run bench [name…] [--flag value…]`: runs the benchmarks, writes their results, and fails if a ratio is below its floor. */
export async function bench(words: readonly string[]): Promise<number> {
  const benches = await loadBenches();
  const { names, values } = readWords(words);
  const unknown = names.filter((name) => !benches.some((known) => known.name === name));
  if (unknown.length > 0) {
    console.error(`Unknown benchmark ${unknown.join(", ")}. Available: ${benches.map((b) => b.name).join(", ")}`);
    return 2;
  }
  const flags = benches
    .filter(({ name }) => names.includes(name))
    .flatMap((known) => Object.entries(known.flags ?? {}));
  const refused = Object.keys(values).filter((name) => !flags.some(([flag]) => flag === name));
  if (refused.length > 0) {
    const available = flags.map(([flag, help]) => `\n  --${flag} VALUE  ${help}`).join("");
    console.error(
      `Unknown flag ${refused.map((name) => `--${name}`).join(", ")}.${available && ` Available:${available}`}`,
    );
    return 2;
  }
  await ensureComponents("bench", console.log);
  let below = 0;
  for (const known of benches) {
    if (names.length > 0 && !names.includes(known.name)) continue;
    console.log(`\n── ${known.name} ──`);
    const report = await known.run((line) => console.log(`  ${line}`), values);
    console.log(textOf(report));
    writeResult(known.name, report);
    below += report.ratios.filter((ratio) => ratio.floor !== undefined && ratio.value < ratio.floor).length;
  }
  if (below > 0) console.error(`${below} ratio(s) below their floor`);
  return below === 0 ? 0 : 1;
}

/** Names, and flags as `--flag value` or `--flag=value`. */
function readWords(words: readonly string[]): {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string>>;
} {
  const names: string[] = [];
  const values: Record<string, string> = {};
  const rest = words.values();
  for (const word of rest) {
    const [, flag, value] = /^--([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    if (flag === undefined) names.push(word);
    else values[flag] = value ?? rest.next().value ?? "";
  }
  return { names, values };
}

async function loadBenches(): Promise<Bench[]> {
  const files = globSync("bench/*.bench.ts", { cwd: ROOT }).toSorted();
  const modules = await Promise.all(files.map((file) => import(path.join(ROOT, file)) as Promise<{ bench: Bench }>));
  return modules.map((module) => module.bench);
}

/** Writes one file per benchmark; git keeps the history. */
function writeResult(name: string, report: BenchReport): void {
  const folder = path.join(ROOT, "bench", "results");
  mkdirSync(folder, { recursive: true });
  const machine = {
    node: process.version,
    system: `${platform()} ${release()} ${arch()}`,
    cores: cpus().length,
    processor: cpus()[0]?.model ?? "unknown",
    memoryGiB: Math.round(totalmem() / 2 ** 30),
  };
  const result = { ...report, machine, measuredAt: new Date().toISOString() };
  writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify(result, undefined, 2)}\n`);
}

function textOf(report: BenchReport): string {
  const numbers = report.measurements.map(
    ({ name, value, unit, note }) =>
      `  ${name.padEnd(60)} ${format(value).padStart(12)} ${unit}${note ? `  (${note})` : ""}`,
  );
  const ratios = report.ratios.map(({ name, value, floor, explains }) => {
    const mark = floor === undefined ? " " : value >= floor ? "✓" : "✗";
    const bound = floor === undefined ? "" : ` (floor ${floor})`;
    return `${mark} ${name.padEnd(60)} ${value.toFixed(2).padStart(12)}${bound}  ${explains}`;
  });
  return [...numbers, ...ratios].join("\n");
}

function format(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(3);
}
