import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { readPage, type Page } from "./markdown.ts";

export const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");

/** Every Markdown file of the repository, by its path from the root. */
export function allPages(): ReadonlyMap<string, Page> {
  const files = globSync("**/*.md", {
    cwd: ROOT,
    exclude: (name) => name === "node_modules" || name === "dist" || (name.startsWith(".") && name !== ".github"),
  });
  const paths = files.map((file) => file.split(path.sep).join("/")).toSorted();
  return new Map(paths.map((file) => [file, readPage(readFileSync(path.join(ROOT, file), "utf8"))]));
}
