/**
 * Makes committed files from their source. `produce` returns the content by path from the repository's root and writes
 * nothing itself: the runner writes (`npm run generate`) or compares (`npm run check`).
 */
export interface Generator {
  readonly name: string;
  /** Folders whose files all come from this generator; what it no longer produces is removed from them. */
  readonly owns?: readonly string[];
  produce(root: string): Promise<ReadonlyMap<string, string>>;
}
