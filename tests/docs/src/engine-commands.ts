import type { Page } from "./markdown.ts";
import { findCommands, type Mention } from "./commands.ts";

/** The part of the syntax of a command that our pages may use. */
interface Syntax {
  /** Whether the flag takes a value. */
  readonly flags: Readonly<Record<string, boolean>>;
  readonly minArguments: number;
  readonly maxArguments: number;
}

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** Transcribed from the help of kind 0.30, k3d 5.8, containerd 1.6 and Docker 28, because no engine is in our tests. */
const SYNTAX: Readonly<Record<string, Syntax>> = {
  // It loads the first archive only.
  "kind load image-archive": { flags: { "--name": true, "--nodes": true }, minArguments: 1, maxArguments: 1 },
  "kind create cluster": {
    flags: { "--name": true, "--config": true, "--image": true, "--wait": true },
    minArguments: 0,
    maxArguments: 0,
  },
  "k3d image import": {
    flags: { "--cluster": true, "-c": true, "--mode": true, "-m": true },
    minArguments: 1,
    maxArguments: NO_LIMIT,
  },
  "k3d cluster create": { flags: { "--agents": true, "--servers": true }, minArguments: 0, maxArguments: 1 },
  "k3s ctr images import": {
    flags: { "--all-platforms": false, "--digests": false },
    minArguments: 1,
    maxArguments: 1,
  },
  "docker load": { flags: { "--input": true, "-i": true, "--quiet": false }, minArguments: 0, maxArguments: 0 },
  "docker build": {
    flags: { "-f": true, "--file": true, "--target": true, "-t": true, "--tag": true, "--build-arg": true },
    minArguments: 1,
    maxArguments: 1,
  },
  "docker push": { flags: {}, minArguments: 1, maxArguments: 1 },
  "docker compose up": {
    flags: { "-f": true, "--detach": false, "--wait": false },
    minArguments: 0,
    maxArguments: NO_LIMIT,
  },
};

const PROGRAMS = ["kind", "k3d", "k3s", "docker", "podman"];

export interface EngineCommand extends Mention {
  /** The words of the command itself, such as `kind load image-archive`. */
  readonly route: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly arguments: readonly string[];
}

/** The commands of engines and local clusters in shell blocks. */
export function findEngineCommands({ fences }: Pick<Page, "fences">): EngineCommand[] {
  return PROGRAMS.flatMap((program) => findCommands({ fences, spans: [] }, program)).map(readCommand);
}

/** Throws if it is not a command, has an unknown flag, or another number of arguments. */
function readCommand({ line, text }: Mention): EngineCommand {
  const words = text.split(/\s+/);
  // The flags of `docker compose` are before its command.
  const plain = words.filter((word) => !word.startsWith("-"));
  const route = Object.keys(SYNTAX).find(
    (known) => startsWith(words, known) || startsWith(withoutValues(words), known),
  );
  const syntax = route === undefined ? undefined : SYNTAX[route];
  if (route === undefined || syntax === undefined) throw new Error(`line ${line}: ${plain.join(" ")} is not a command`);
  const flags: Record<string, string> = {};
  const rest: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!word.startsWith("-")) rest.push(word);
    else {
      const takesValue = syntax.flags[word];
      if (takesValue === undefined) throw new Error(`line ${line}: ${route} has no ${word}`);
      flags[word] = takesValue ? (left.shift() ?? "") : "";
    }
  }
  const given = rest.slice(route.split(" ").length);
  if (given.length < syntax.minArguments || given.length > syntax.maxArguments)
    throw new Error(`line ${line}: ${route} takes ${syntax.minArguments} to ${syntax.maxArguments} arguments: ${text}`);
  return { line, text, route, flags, arguments: given };
}

function startsWith(words: readonly string[], route: string): boolean {
  return route.split(" ").every((word, index) => words[index] === word);
}

function withoutValues(words: readonly string[]): readonly string[] {
  return words.filter((word, index) => !word.startsWith("-") && words[index - 1] !== "-f");
}
