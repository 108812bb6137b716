import { proposeCompletions, type Application } from "@stricli/core";
import { findTarget, normalizeArguments, positionalsOf } from "./command-line.ts";
import type { CliContext } from "./command.ts";

/**
 * Proposes the words that can stand at the end of a command line. `argv` ends with the word typed so far, which may be
 * empty. Flags are proposed only after a dash.
 */
export async function completeLine(
  app: Application<CliContext>,
  argv: readonly string[],
  context: CliContext,
): Promise<readonly string[]> {
  const { words, isSplit } = joinAssignment(argv);
  const last = words.at(-1) ?? "";
  const { flag, value } = /^(?<flag>--[\w-]+)=(?<value>.*)$/s.exec(last)?.groups ?? {};
  const before = [...words.slice(0, -1), ...(flag === undefined ? [] : [flag])];
  const leading = before.length === 0 ? [] : normalizeArguments(app.root, before);
  const partial = value ?? last;
  const { path, target } = findTarget(app.root, leading);
  const typed = positionalsOf(target, leading.slice(path.length));
  const proposed = await proposeCompletions(app, [...leading, partial], { ...context, typed });
  const lead = flag === undefined || isSplit ? "" : `${flag}=`;
  return proposed
    .filter(({ kind }) => kind !== "argument:flag" || partial.startsWith("-"))
    .map(({ completion }) => lead + completion);
}

/** Joins `--output`, `=`, `js`: bash splits a word at `=` and replaces only the part after it. */
function joinAssignment(argv: readonly string[]): { readonly words: readonly string[]; readonly isSplit: boolean } {
  const at = argv.at(-1) === "=" ? argv.length - 1 : argv.at(-2) === "=" ? argv.length - 2 : -1;
  if (at < 1) return { words: argv, isSplit: false };
  return { words: [...argv.slice(0, at - 1), `${argv[at - 1]}=${argv[at + 1] ?? ""}`], isSplit: true };
}
