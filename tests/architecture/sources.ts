import { globSync, readFileSync } from "node:fs";
import path from "node:path";

export const ROOT = path.resolve(import.meta.dirname, "..", "..");

/** One import statement of one source file. */
export interface ImportStatement {
  readonly file: string;
  readonly specifier: string;
  /** `import type` and `export type`, which are erased at run time. */
  readonly isType: boolean;
}

/** Every TypeScript source of packages and apps, including generated code. */
export function sourceFiles(): string[] {
  return globSync(["packages/*/{src,test}/**/*.{ts,tsx}", "apps/*/{src,test}/**/*.{ts,tsx}"], { cwd: ROOT })
    .map((file) => file.split(path.sep).join("/"))
    .toSorted();
}

const STATEMENT =
  /(?:^|[\n;])\s*(?:import|export)\s+(type\s+)?(?:[^"'`;]*?\sfrom\s*)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/g;

/** The imports of a source text, static and dynamic. */
export function importsOf(text: string): Omit<ImportStatement, "file">[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(STATEMENT)].map(([, type, specifier, dynamic]) => ({
    specifier: String(specifier ?? dynamic),
    isType: type !== undefined,
  }));
}

export function allImports(): ImportStatement[] {
  return sourceFiles().flatMap((file) =>
    importsOf(readFileSync(path.join(ROOT, file), "utf8")).map((statement) => ({ file, ...statement })),
  );
}
