/** `npm run components [-- names…] [--list] [--tier test|full|bench] [--path file]`: real components for tests. */
import { parseArgs } from "node:util";
import {
  cacheDir,
  type Component,
  componentFile,
  type ComponentFileName,
  type ComponentName,
  componentOf,
  COMPONENTS,
  componentsOf,
  elapsedText,
  ensureEach,
  isPresent,
  type Tier,
} from "@oaas/real-components";

export { ensureComponents } from "@oaas/real-components";

const OBTAINED_BY = {
  "go-build": "Go build",
  "go-files": "files of Go modules",
  "debian-extract": "Debian package, unpacked",
  "host-command": "system command, or Debian package",
} as const;

function table(components: readonly Component[]): string {
  const rows = components.map((component) => [
    component.name,
    component.version,
    component.tier,
    isPresent(component) ? "present" : "missing",
    OBTAINED_BY[component.recipe.kind],
    component.purpose,
  ]);
  const all = [["component", "version", "tier", "state", "obtained by", "for"], ...rows];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")).join("\n");
}

function selectComponents(names: readonly string[], tier: string): readonly Component[] {
  if (names.length > 0) return [...new Set(names.map((name) => componentOf(name as ComponentName)))];
  if (tier !== "test" && tier !== "full" && tier !== "bench") {
    throw new RangeError(`unknown tier "${tier}"; use test, full or bench`);
  }
  return componentsOf(tier satisfies Tier);
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: "boolean", default: false },
      tier: { type: "string", default: "test" },
      path: { type: "string" },
    },
  });
  if (values.list) {
    console.log(`${table(COMPONENTS)}\n\nCache: ${cacheDir()}`);
    return 0;
  }
  if (values.path !== undefined) {
    console.log(componentFile(values.path as ComponentFileName));
    return 0;
  }
  const startedAt = performance.now();
  const reports = await ensureEach(selectComponents(positionals, values.tier), (line) => console.log(line));
  const missing = reports.filter((report) => report.state === "missing");
  const obtained = reports.filter((report) => report.state === "obtained");
  console.log(
    `${reports.length - missing.length} of ${reports.length} components are available ` +
      `(${obtained.length} obtained now, ${elapsedText(performance.now() - startedAt)}); cache: ${cacheDir()}`,
  );
  return missing.length === 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 2;
  }
}
