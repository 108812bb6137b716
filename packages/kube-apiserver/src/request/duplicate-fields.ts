import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

/** A string of JSON, and whether it is the name of a member. */
const STRINGS = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

/**
 * The paths of members that a JSON text has twice (`spec.a`). Almost no text has any, so that they are only counted at first:
 * as many names in the text as members in what was read means that there are none.
 */
export function duplicateFields(text: string, value: JsonValue): readonly string[] {
  return namesIn(text) === membersIn(value) ? [] : [...new Set(duplicatesIn(text))];
}

function namesIn(text: string): number {
  let count = 0;
  for (const match of text.matchAll(STRINGS)) if (match[1] !== undefined) count += 1;
  return count;
}

/** Without recursion: what is nested as deep as anybody may send would be too deep for it. */
function membersIn(value: JsonValue): number {
  let count = 0;
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isJsonArray(next)) {
      for (const item of next) open.push(item);
    } else if (isJsonObject(next)) {
      for (const member of Object.values(next)) {
        count += 1;
        if (typeof member === "object") open.push(member);
      }
    }
  }
  return count;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

interface Level {
  /** Names seen so far; undefined inside a list. */
  readonly names: Set<string> | undefined;
  readonly path: string;
  index: number;
}

/** Walks over a text that is known to be JSON. */
function duplicatesIn(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  const tokens = text.match(TOKENS) ?? [];
  let place = "";
  for (const [at, token] of tokens.entries()) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      const path = level !== undefined && level.names === undefined ? `${level.path}[${level.index}]` : place;
      levels.push({ names: token === "{" ? new Set() : undefined, path, index: 0 });
    } else if (token === "}" || token === "]") {
      levels.pop();
    } else if (token === ",") {
      if (level !== undefined) level.index += 1;
    } else if (level?.names !== undefined && tokens[at + 1] === ":") {
      const name = JSON.parse(token) as string;
      place = level.path === "" ? name : `${level.path}.${name}`;
      if (level.names.has(name)) found.push(place);
      level.names.add(name);
    }
  }
  return found;
}
