import { parseYaml } from "@oaas/foundation/yaml";
import { isNode } from "yaml";

/** A part of a text, as offsets. */
export interface Place {
  readonly from: number;
  readonly to: number;
}

/** Reads `$.functions[0]['a.b']` as its keys. */
export function keysOfPath(path: string): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (const [, name, index, quoted] of path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]/g)) {
    if (name !== undefined) keys.push(name);
    else if (index !== undefined) keys.push(Number(index));
    else if (quoted !== undefined) keys.push(quoted.replaceAll(/\\(.)/g, "$1"));
  }
  return keys;
}

/** Where a path is in a YAML text: its value, else the nearest parent that exists, else the first line. */
export function placeOfPath(text: string, path: string): Place {
  const document = parseYaml(text).documents[0]?.document;
  const keys = [...keysOfPath(path)];
  for (;;) {
    const node = document?.getIn(keys, true);
    if (isNode(node) && node.range) return { from: node.range[0], to: Math.min(node.range[1], text.length) };
    if (keys.length === 0) return { from: 0, to: Math.max(0, text.indexOf("\n")) };
    keys.pop();
  }
}

export interface SyntaxProblem extends Place {
  readonly message: string;
}

/** Syntax errors of a YAML text, and limits that it exceeds. */
export function syntaxProblems(text: string): readonly SyntaxProblem[] {
  const { documents, exceeded, lines } = parseYaml(text);
  const problems = [...documents.flatMap((each) => each.problems), ...(exceeded === undefined ? [] : [exceeded])];
  return problems.map(({ line, column, message, fix }) => {
    const from = Math.min((lines.lineStarts[line - 1] ?? 0) + column - 1, text.length);
    return { from, to: from, message: `${message}; ${fix}` };
  });
}
