import { describe, expect, test } from "vitest";
import { parseYaml, parseYamlValue, yamlValue } from "./parse-yaml.ts";
import { YAML_FILE_LIMITS, YAML_REQUEST_LIMITS, type YamlLimits } from "./yaml-limits.ts";

const SMALL: YamlLimits = { nodes: 50, depth: 5, characters: 1000, tokens: 300, aliases: 4, documents: 2 };

/** The first problem of a text with its place: `2:3 message; fix`. */
function problemOf(text: string, limits: YamlLimits = SMALL): string {
  const { documents, exceeded } = parseYaml(text, { limits });
  const problem = exceeded ?? documents.flatMap(({ problems }) => problems)[0];
  if (problem !== undefined) return `${problem.line}:${problem.column} ${problem.message}; ${problem.fix}`;
  const read = documents.map(({ document }) => yamlValue(document, limits)).find(({ ok }) => !ok);
  return read === undefined || read.ok ? "none" : `${read.message}; ${read.fix}`;
}

describe("limits", () => {
  test.each([
    { case: "within all limits", text: "a: [1, {b: &x c}]\nd: *x\n---\ne: |\n  *x\n", problem: "none" },
    {
      case: "text above the length limit",
      text: `a: ${"x".repeat(1000)}`,
      problem: /^1:1 is longer than 1000 characters.*send it as JSON/,
    },
    { case: "many tokens", text: "- a\n".repeat(90), problem: /^60:4 has more than 300 YAML tokens; send it as JSON/ },
    { case: "many comments", text: "#\n".repeat(200), problem: /^\d+:\d+ has more than 300 YAML tokens/ },
    {
      case: "deep flow",
      text: "a:\n  [[[[[[1]]]]]]",
      problem: /^2:\d+ is nested too deeply: more than 5 levels; reduce/,
    },
    { case: "deep flow maps", text: "{a: {b: {c: {d: {e: {f: 1}}}}}}", problem: /^1:\d+ is nested too deeply/ },
    { case: "deep compact lists", text: "- - - - - - 1", problem: /^1:\d+ is nested too deeply/ },
    { case: "deep complex keys", text: "? ? ? ? ? ? ? ? 1", problem: /^1:\d+ is nested too deeply/ },
    { case: "deep block", text: "a:\n b:\n  c:\n   d:\n    e:\n     f: 1", problem: /^6:\d+ is nested too deeply/ },
    {
      case: "many aliases",
      text: "- &x a\n" + "- *x\n".repeat(5),
      problem: /^6:\d+ expands to too many aliases; replace/,
    },
    {
      case: "aliases of aliases",
      text: "- &a [x, x]\n- &b [*a, *a]\n- [*b, *b]",
      problem: /^expands to too many aliases/,
    },
    {
      case: "an alias of a large part",
      text: `- &a [${"0,".repeat(20)}]\n- [*a, *a, *a]`,
      problem: /^has more than 50 values; split/,
    },
    { case: "many documents", text: "--- 1\n--- 2\n--- 3\n", problem: /^3:\d+ contains more than 2 documents; split/ },
    {
      case: "duplicate keys",
      text: "a: 1\nb:\n  c: 1\n  c: 2\n",
      problem: /^4:3 the key "c" is repeated \(first at line 3, column 3\); remove/,
    },
    {
      case: "duplicate keys in flow",
      text: "{a: 1, a: 2}",
      problem: /^1:8 the key "a" is repeated \(first at line 1, column 2\);/,
    },
    { case: "a syntax error", text: "a: [1\nb: 2\n", problem: /^2:1 a list \[ \] or map \{ \} does not end; add/ },
    { case: "a tab", text: "a:\n\tb: 1\n", problem: /^2:1 the line is indented with a tab; indent with spaces/ },
    { case: "a tab before a list item", text: "a:\n\t- b\n", problem: /^2:1 the line is indented with a tab/ },
    {
      case: "a key deeper than its neighbour",
      text: "a:\n  b: 1\n   c: 2\n",
      problem: /^3:\d+ the line is not indented/,
    },
    { case: "a key between levels", text: "a:\n  - b: 1\n   c: 2\n", problem: /^3:\d+ the line is not indented like/ },
    { case: "an item between levels", text: "a:\n  - b\n - c\n", problem: /^3:\d+ the line is not indented like/ },
    { case: "a value with a colon", text: "a: b: c\n", problem: /^1:4 the value contains a colon.*; quote/ },
    { case: "a key without a colon", text: "a: 1\nb\n", problem: /^2:1 the line has no colon.*; write key: value/ },
    { case: "a reserved character", text: "a: @b\n", problem: /^1:4 the value starts with.*; quote/ },
    { case: "an open quote", text: 'a: "b\n', problem: /^\d:\d the quoted value does not end; add/ },
  ])("$case", ({ text, problem }) => {
    if (typeof problem === "string") expect(problemOf(text)).toBe(problem);
    else expect(problemOf(text)).toMatch(problem);
  });

  test("accepts duplicate keys when asked; the last one wins", () => {
    expect(parseYamlValue("a: 1\na: 2\n", { allowDuplicates: true })).toEqual({ ok: true, value: { a: 2 } });
  });

  test("reads YAML 1.1 when asked", () => {
    expect(parseYamlValue("a: yes")).toEqual({ ok: true, value: { a: "yes" } });
    expect(parseYamlValue("a: yes", { schema: "yaml-1.1" })).toEqual({ ok: true, value: { a: true } });
  });

  test("an empty text is null, and a second document is refused", () => {
    expect(parseYamlValue("# nothing\n")).toEqual({ ok: true, value: null });
    expect(parseYamlValue("a: 1\n---\nb: 1\n")).toMatchObject({ ok: false, message: /more than one document/ });
  });

  test("collects a bounded number of syntax errors", () => {
    const errors = (text: string) =>
      parseYaml(text, { limits: YAML_FILE_LIMITS }).documents.flatMap(({ problems }) => problems).length;
    expect(errors(`{${",".repeat(2000)}}`)).toBeLessThanOrEqual(20);
    expect(errors("]".repeat(2000))).toBeLessThanOrEqual(20);
    expect(errors("a: 1\n".repeat(2000))).toBeLessThanOrEqual(20);
  });
});

const ADVERSARIAL: Readonly<Record<string, (characters: number) => string>> = {
  "wide flow map": (size) => `{${numbered((i) => `k${i}: 1,`, size)}}`,
  "wide block map": (size) => numbered((i) => `k${i}: 1\n`, size),
  "duplicate keys": (size) => repeat("k: 1\n", size),
  "list of empty maps": (size) => `[${repeat("{},", size)}]`,
  "list of pairs": (size) => `[${repeat("a: b,", size)}]`,
  "block list": (size) => repeat("- 0\n", size),
  "deep flow": (size) => repeat("[", size),
  "deep maps": (size) => repeat("{a: ", size),
  "deep lists": (size) => repeat("- ", size),
  "many anchors": (size) => numbered((i) => `- &a${i} x\n- *a${i}\n`, size),
  "merge keys": (size) => `a: &a {x: 1}\nb:\n${numbered((i) => `  k${i}: {<<: *a}\n`, size)}`,
  "long scalar": (size) => `a: ${repeat("x", size)}`,
  "folded words": (size) => `a: ${repeat("x\n  ", size)}`,
  "blank lines": (size) => `a: |\n${repeat("\n", size)}  x`,
  escapes: (size) => `a: "${repeat(String.raw`\u0041`, size)}"`,
  quotes: (size) => `a: '${repeat("''", size)}'`,
  "open quote": (size) => `a: "${repeat("x ", size)}`,
  comments: (size) => `${repeat("# c\n", size)}a: 1`,
  documents: (size) => repeat("---\n", size),
  directives: (size) => `${repeat("%YAML 1.2\n", size)}---\na: 1`,
  tags: (size) => `[${repeat("!a x,", size)}]`,
  "long tag": (size) => `!<${repeat("a", size)}> x`,
  "stray brackets": (size) => repeat("]", size),
  "stray commas": (size) => `{${repeat(",", size)}}`,
  "nested errors": (size) => repeat("a: b: c\n", size),
  spaces: (size) => `${repeat(" ", size)}a`,
  digits: (size) => `a: ${repeat("1", size)}.x`,
};

function repeat(part: string, characters: number): string {
  return part.repeat(Math.ceil(characters / part.length));
}

function numbered(part: (index: number) => string, characters: number): string {
  let text = "";
  for (let index = 0; text.length < characters; index += 1) text += part(index);
  return text;
}

/** Everything a request does with a text. */
function parseRequest(text: string): void {
  for (const { document, problems } of parseYaml(text).documents) if (problems.length === 0) yamlValue(document);
}

/** The shortest of several runs: other processes make runs longer, never shorter. */
function shortestMs(text: string, runs: number): number {
  let shortest = Infinity;
  for (let run = 0; run < runs; run += 1) {
    const startedAt = process.hrtime.bigint();
    parseRequest(text);
    shortest = Math.min(shortest, Number(process.hrtime.bigint() - startedAt) / 1e6);
  }
  return shortest;
}

describe("time grows linearly with the text", () => {
  const [small, factor] = [3000, 8];

  test.each(Object.entries(ADVERSARIAL))("%s", (_, textOf) => {
    // Quadratic time grows 64-fold. The constant absorbs timer noise of texts that take microseconds.
    const isLinear = () => shortestMs(textOf(small * factor), 3) <= 4 * factor * shortestMs(textOf(small), 3) + 2;
    // A quadratic parser fails every time; a busy machine only some of the times.
    expect(Array.from({ length: 20 }).some(isLinear)).toBe(true);
  });

  test("refuses a text beyond the limit without parsing it", () => {
    for (const textOf of Object.values(ADVERSARIAL)) {
      const text = textOf(YAML_REQUEST_LIMITS.characters + 1);
      expect(parseYaml(text).exceeded?.message).toMatch(/is longer than/);
    }
  });
});
