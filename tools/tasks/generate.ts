import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { GENERATORS } from "../generate/list.ts";
import type { Generator } from "../generate/generator.ts";
import { ROOT } from "./root.ts";

/** A generated file that differs from its source. */
export interface StaleFile {
  readonly file: string;
  readonly problem: "stale" | "missing" | "left over";
  readonly content: string | undefined;
}

/** Compares the output of a generator with the existing files. */
export async function staleFiles(generator: Generator): Promise<StaleFile[]> {
  const produced = await generator.produce(ROOT);
  const stale: StaleFile[] = [];
  for (const [file, content] of produced) {
    const present = readIfPresent(path.join(ROOT, file));
    if (present !== content) stale.push({ file, problem: present === undefined ? "missing" : "stale", content });
  }
  for (const file of (generator.owns ?? []).flatMap(filesBelow)) {
    if (!produced.has(file)) stale.push({ file, problem: "left over", content: undefined });
  }
  return stale;
}

/** `npm run generate [name…]`: writes stale files and prints their names. */
export async function generate(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !GENERATORS.some((generator) => generator.name === name));
  if (unknown.length > 0) {
    console.error(`Unknown generator ${unknown.join(", ")}. Available: ${GENERATORS.map((g) => g.name).join(", ")}`);
    return 2;
  }
  for (const generator of GENERATORS) {
    if (names.length > 0 && !names.includes(generator.name)) continue;
    const stale = await staleFiles(generator);
    for (const { file, content } of stale) write(file, content);
    console.log(
      stale.length === 0 ? `${generator.name}: fresh` : `${generator.name}: ${stale.map((s) => s.file).join(", ")}`,
    );
  }
  return 0;
}

function write(file: string, content: string | undefined): void {
  const place = path.join(ROOT, file);
  if (content === undefined) {
    rmSync(place);
    return;
  }
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, content);
}

function readIfPresent(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

function filesBelow(folder: string): string[] {
  const place = path.join(ROOT, folder);
  try {
    return readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}
