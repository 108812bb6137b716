import { cpSync, globSync, mkdirSync } from "node:fs";
import path from "node:path";

/** The instructions of a Dockerfile that can be evaluated without a container engine. */
export interface Recipe {
  readonly base: string;
  readonly user: string;
  readonly workingFolder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly ports: readonly number[];
  readonly command: readonly string[];
  /** Source patterns relative to the Dockerfile, and their target. */
  readonly copies: readonly { readonly from: readonly string[]; readonly to: string }[];
}

type Draft = { -readonly [Member in keyof Recipe]: Recipe[Member] };

const INSTRUCTIONS: Readonly<Record<string, (recipe: Draft, rest: string) => void>> = {
  FROM: (recipe, rest) => (recipe.base = rest),
  USER: (recipe, rest) => (recipe.user = rest),
  WORKDIR: (recipe, rest) => (recipe.workingFolder = path.posix.resolve(recipe.workingFolder, rest)),
  ENV: (recipe, rest) => (recipe.environment = { ...recipe.environment, ...parseVariables(rest) }),
  EXPOSE: (recipe, rest) => (recipe.ports = [...recipe.ports, ...rest.split(/\s+/).map(Number)]),
  CMD: (recipe, rest) => (recipe.command = JSON.parse(rest) as string[]),
  COPY: (recipe, rest) => {
    const words = rest.split(/\s+/);
    const to = path.posix.resolve(recipe.workingFolder, words.at(-1) ?? "");
    recipe.copies = [...recipe.copies, { from: words.slice(0, -1), to }];
  },
};

/** Parses a Dockerfile. Rejects unsupported instructions, so that none is silently ignored. */
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
    const apply = INSTRUCTIONS[word];
    if (apply === undefined || rest.endsWith("\\") || rest.startsWith("--")) {
      throw new SyntaxError(`line ${index + 1} is not supported: ${line}`);
    }
    apply(recipe, rest);
  }
  return recipe;
}

function parseVariables(text: string): Record<string, string> {
  const pairs = text.split(/\s+/).map((pair) => pair.split("="));
  return Object.fromEntries(pairs.map(([name = "", ...value]) => [name, value.join("=")]));
}

/** Copies the files of the image to `root` and returns its working folder. */
export function copyFiles({ copies, workingFolder }: Recipe, context: string, root: string): string {
  for (const { from, to } of copies) {
    mkdirSync(path.join(root, to), { recursive: true });
    for (const pattern of from) {
      const files = globSync(pattern, { cwd: context });
      if (files.length === 0) throw new Error(`COPY ${pattern}: no such file in ${context}`);
      for (const file of files) {
        cpSync(path.join(context, file), path.join(root, to, path.basename(file)), { recursive: true });
      }
    }
  }
  return path.join(root, workingFolder);
}
