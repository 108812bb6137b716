/** A syntax error in words, with its fix. */
export interface SyntaxProblem {
  readonly message: string;
  readonly fix: string;
}

const WRONG_INDENTATION: SyntaxProblem = {
  message: "the line is not indented like the other lines of its list or map",
  fix: "use the same number of spaces as for its neighbours",
};

const TAB: SyntaxProblem = { message: "the line is indented with a tab", fix: "indent with spaces" };

/** Problems that people cause most often, by the parser's code or the start of its message. */
const KNOWN: readonly (readonly [pattern: RegExp, problem: SyntaxProblem])[] = [
  [/^TAB_AS_INDENT/, TAB],
  [/^BAD_INDENT All |Sequence item without - indicator/, WRONG_INDENTATION],
  [
    /Nested mappings are not allowed in compact mappings/,
    { message: "the value contains a colon followed by a space", fix: "quote the value, or start a new line" },
  ],
  [
    /Implicit (?:map )?keys need to be|^MULTILINE_IMPLICIT_KEY/,
    { message: "the line has no colon after its key", fix: "write key: value, with a space after the colon" },
  ],
  [/^BAD_SCALAR_START/, { message: "the value starts with a character that YAML reserves", fix: "quote the value" }],
  [/Missing closing/, { message: "the quoted value does not end", fix: "add the closing quote" }],
  [
    /^(?:BAD_INDENT|MISSING_CHAR) Flow (?:sequence|map)|^BLOCK_IN_FLOW/,
    { message: "a list [ ] or map { } does not end", fix: "add the closing bracket" },
  ],
];

interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly pos: readonly [start: number, end: number];
}

/** Translates the errors of the parser; an unknown error keeps the parser's message. */
export function describeSyntaxErrors(
  errors: readonly ParserError[],
): readonly (SyntaxProblem & { readonly offset: number })[] {
  return errors.map(({ code, message, pos }, index) => {
    const next = errors[index + 1];
    // A key that continues the value above it: the second error ends at the key.
    if (code === "BLOCK_AS_IMPLICIT_KEY" && next?.code === "MULTILINE_IMPLICIT_KEY")
      return { offset: next.pos[1] - 1, ...WRONG_INDENTATION };
    return { offset: pos[0], ...describeSyntaxError(code, message) };
  });
}

function describeSyntaxError(code: string, message: string): SyntaxProblem {
  const [firstLine = ""] = message.split("\n", 1);
  const known = KNOWN.find(([pattern]) => pattern.test(`${code} ${firstLine}`));
  return known?.[1] ?? { message: firstLine, fix: "fix the syntax at that position" };
}
