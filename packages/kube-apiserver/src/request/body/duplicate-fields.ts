import { isJsonArray, isJsonObject, type JsonValue } from "@oaas/kube-core";

/** A JSON string, and whether it is a member name. An open string ends with the text. */
const STRINGS = /"(?:[^"\\]|\\[^])*(?:"(\s*:)?|\\?$)/g;

/**
 * The paths of duplicate members in a JSON text (`spec.a`). Duplicates are rare, so members are only counted at first:
 * as many names in the text as members in the value means that there are none.
 */
export function findDuplicateFields(text: string, value: JsonValue): readonly string[] {
  return countNames(text) === countMembers(value) ? [] : [...new Set(listDuplicates(text))];
}

function countNames(text: string): number {
  let count = 0;
  for (const match of text.matchAll(STRINGS)) if (match[1] !== undefined) count += 1;
  return count;
}

/** Without recursion, because nesting may be deep. */
function countMembers(value: JsonValue): number {
  let count = 0;
  const pending: JsonValue[] = [value];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (isJsonArray(next)) {
      for (const item of next) pending.push(item);
    } else if (isJsonObject(next)) {
      for (const member of Object.values(next)) {
        count += 1;
        if (typeof member === "object") pending.push(member);
      }
    }
  }
  return count;
}

const TOKENS = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|[{}[\],:]|[^\s"{}[\],:]+/g;

interface Level {
  /** Names seen so far; undefined inside a list. */
  readonly names: Set<string> | undefined;
  readonly path: string;
  index: number;
}

/** Walks over valid JSON. */
function listDuplicates(text: string): readonly string[] {
  const found: string[] = [];
  const levels: Level[] = [];
  const tokens = text.match(TOKENS) ?? [];
  let memberPath = "";
  for (const [at, token] of tokens.entries()) {
    const level = levels.at(-1);
    if (token === "{" || token === "[") {
      const path = level !== undefined && level.names === undefined ? `${level.path}[${level.index}]` : memberPath;
      levels.push({ names: token === "{" ? new Set() : undefined, path, index: 0 });
    } else if (token === "}" || token === "]") {
      levels.pop();
    } else if (token === ",") {
      if (level !== undefined) level.index += 1;
    } else if (level?.names !== undefined && tokens[at + 1] === ":") {
      const name = JSON.parse(token) as string;
      memberPath = level.path === "" ? name : `${level.path}.${name}`;
      if (level.names.has(name)) found.push(memberPath);
      level.names.add(name);
    }
  }
  return found;
}
