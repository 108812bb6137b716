import type { Page } from "./markdown.ts";

/** A command on a page. */
export interface Mention {
  readonly line: number;
  readonly text: string;
}

/** Every command of a program, in shell blocks and code spans. */
export function findCommands({ fences, spans }: Pick<Page, "fences" | "spans">, program: string): Mention[] {
  const pattern = new RegExp(`(?<![\\w./-])${program}(?= )[^;|&()#"\`]*`, "g");
  const inBlocks = fences
    .filter(({ info }) => /^(?:sh|console)\b/.test(info))
    .flatMap(({ body, line }) => body.split("\n").map((text, index) => ({ text, line: line + 1 + index })));
  // A release of Helm may have the name of the program.
  const lines = [...inBlocks, ...spans].filter(({ text }) => !/^\s*helm /.test(text));
  return lines.flatMap(({ text, line }) =>
    [...text.matchAll(pattern)].map(([found]) => ({ line, text: found.trim() })),
  );
}

/** The existing commands with their help. */
export type Commands = ReadonlyMap<string, string>;

/** Why a command is invalid, or undefined. Words in capitals are placeholders. */
export function findProblem(text: string, commands: Commands): string | undefined {
  const words = text.split(/\s+/).map((word) => word.replaceAll(/^['"]|['"]$/g, ""));
  const route = longestRoute(words, commands);
  if (words[1] === "--help") return undefined;
  if (route === undefined) {
    const isGroup = [...commands.keys()].some((name) => name.startsWith(`${words.slice(0, 2).join(" ")} `));
    // A command group without a subcommand is valid.
    return isGroup && words.length === 2 ? undefined : "is not a command";
  }
  const help = commands.get(route) ?? "";
  const unknown = words.flatMap((word) => {
    const flag = /^--[a-z][a-z-]*/.exec(word)?.[0];
    return flag === undefined || flag === "--help" || mentions(help, flag) ? [] : [flag];
  });
  return unknown.length === 0 ? undefined : `has no ${unknown.join(", ")}`;
}

function longestRoute(words: readonly string[], commands: Commands): string | undefined {
  for (let count = words.length; count > 1; count -= 1) {
    const route = words.slice(0, count).join(" ");
    if (commands.has(route)) return route;
  }
  return undefined;
}

function mentions(help: string, flag: string): boolean {
  return help.includes(flag) || help.includes(flag.replace("--no-", "--"));
}
