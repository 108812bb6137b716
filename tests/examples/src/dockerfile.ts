import { cpSync, globSync, mkdirSync } from "node:fs";
import path from "node:path";

/** What a Dockerfile says, as far as a machine without a container engine can follow it. */
export interface Recipe {
  readonly base: string;
  readonly user: string;
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly command: readonly string[];
  /** Patterns from the folder of the Dockerfile, and where they go. */
  readonly copies: readonly { readonly from: readonly string[]; readonly to: string }[];
}

type Draft = { -readonly [Member in keyof Recipe]: Recipe[Member] };

const INSTRUCTIONS: Readonly<Record<string, (recipe: Draft, rest: string) => void>> = {
  FROM: (recipe, rest) => (recipe.base = rest),
  USER: (recipe, rest) => (recipe.user = rest),
  WORKDIR: (recipe, rest) => (recipe.workingFolder = path.posix.resolve(recipe.workingFolder, rest)),
  ENV: (recipe, rest) => (recipe.environment = { ...recipe.environment, ...variablesIn(rest) }),
  EXPOSE: (recipe, rest) => (recipe.ports = [...recipe.ports, ...rest.split(/\s+/).map(Number)]),
  CMD: (recipe, rest) => (recipe.command = JSON.parse(rest) as string[]),
  COPY: (recipe, rest) => {
    const words = rest.split(/\s+/);
    const to = path.posix.resolve(recipe.workingFolder, words.at(-1) ?? "");
    recipe.copies = [...recipe.copies, { from: words.slice(0, -1), to }];
  },
};

/** Reads a Dockerfile. What it does not know it refuses, so that nothing is believed that was not followed. */
export function readDockerfile(text: string): Recipe {
  const recipe: Draft = {
    base: "",
    user: "root",
    workingFolder: "/",
    environment: {},
    ports: [],
    command: [],
    copies: [],
  };
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const [, word = "", rest = ""] = /^(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
    const follow = INSTRUCTIONS[word];
    if (follow === undefined || rest.endsWith("\\") || rest.startsWith("--")) {
      throw new SyntaxError(`line ${index + 1} is not understood here: ${line}`);
    }
    follow(recipe, rest);
  }
  return recipe;
}

function variablesIn(text: string): Record<string, string> {
  const pairs = text.split(/\s+/).map((pair) => pair.split("="));
  return Object.fromEntries(pairs.map(([name = "", ...value]) => [name, value.join("=")]));
}

/** Makes the image's files below `root`, and nothing else; answers the working folder there. */
export function layOut({ copies, workingFolder }: Recipe, context: string, root: string): string {
  for (const { from, to } of copies) {
    mkdirSync(path.join(root, to), { recursive: true });
    for (const pattern of from) {
      const files = globSync(pattern, { cwd: context });
      if (files.length === 0) throw new Error(`COPY ${pattern}: there is no such file in ${context}`);
      for (const file of files) {
        cpSync(path.join(context, file), path.join(root, to, path.basename(file)), { recursive: true });
      }
    }
  }
  return path.join(root, workingFolder);
}
