/**
 * Generates committed files. `produce` returns the content by path from the repository's root and writes nothing: the
 * runner writes (`npm run generate`) or compares (`npm run check`).
 */
export interface Generator {
  readonly name: string;
  /** Folders owned by this generator; files that it no longer produces are removed. */
  readonly owns?: readonly string[];
  produce(root: string): Promise<ReadonlyMap<string, string>>;
}
