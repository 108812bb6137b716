import path from "node:path";
import { PURE_PACKAGES, type FolderRule } from "../../dependency-rules.ts";
import type { ImportStatement } from "./sources.ts";

/** The folder table of one app, applied to its imports. `src` is the app's source folder, from the root. */
export class AppFolders {
  readonly #src: string;
  readonly #rules: readonly FolderRule[];

  constructor(src: string, rules: readonly FolderRule[]) {
    this.#src = src;
    this.#rules = rules;
  }

  /** Whether the table applies to a file; tests and their helpers may import anything. */
  covers(file: string): boolean {
    return file.startsWith(`${this.#src}/`) && !/\.test\.ts$|\/testing\//.test(file);
  }

  /** Files of the app that no row names. */
  unlisted(files: readonly string[]): readonly string[] {
    return files.filter((file) => this.covers(file) && this.#rankOf(file) === undefined);
  }

  /** Folders in the table without a file. */
  stale(files: readonly string[]): readonly string[] {
    const folders = this.#rules.flatMap((rule) => rule.folders);
    return folders.filter((folder) => !files.some((file) => isIn(`${this.#src}/${folder}`, file)));
  }

  /** Imports that go up, or leave the pure part. */
  problems(imports: readonly ImportStatement[]): readonly string[] {
    return imports.filter(({ file }) => this.covers(file)).flatMap((statement) => this.#problemOf(statement) ?? []);
  }

  #problemOf({ file, specifier, isType }: ImportStatement): string | undefined {
    const rank = this.#rankOf(file);
    const rule = rank === undefined ? undefined : this.#rules[rank];
    if (rank === undefined || rule === undefined) return undefined;
    if (!specifier.startsWith(".")) {
      const isAllowed = rule.pure !== true || isType || PURE_PACKAGES.test(specifier);
      return isAllowed ? undefined : `${file} is in a pure folder and imports ${specifier}`;
    }
    const target = path.posix.join(path.posix.dirname(file), specifier);
    const targetRank = this.#rankOf(target);
    if (targetRank === undefined || targetRank === rank) return undefined;
    if (targetRank > rank) return `${file} imports upwards: ${target}`;
    const isPure = rule.pure !== true || isType || this.#rules[targetRank]?.pure === true;
    return isPure ? undefined : `${file} is in a pure folder and imports ${target}, which is not`;
  }

  /** The row of the longest path that holds the file. */
  #rankOf(file: string): number | undefined {
    const rows = this.#rules.flatMap(({ folders }, rank) => folders.map((folder) => ({ folder, rank })));
    const [row] = rows
      .filter(({ folder }) => isIn(`${this.#src}/${folder}`, file))
      .toSorted((a, b) => b.folder.length - a.folder.length);
    return row?.rank;
  }
}

function isIn(folder: string, file: string): boolean {
  return file === folder || file.startsWith(`${folder}/`);
}
