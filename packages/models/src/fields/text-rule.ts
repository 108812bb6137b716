import { ROOT_PATH, type Violation } from "@oaas/foundation";

/** Problem of a value and its fix, without a path. */
export interface TextProblem {
  readonly message: string;
  readonly fix: string;
}

/** Validation rule of a text field. `pattern` and `maxLength` describe it in generated documents. */
export interface TextRule {
  /** Name of the value in messages: "a package name". */
  readonly what: string;
  readonly maxLength: number;
  /** Necessary pattern for generated documents; the rule may be stricter. */
  readonly pattern?: string;
  findProblem(text: string): TextProblem | undefined;
}

/** Returns the violations of a text field: none or one. */
export function checkText(rule: TextRule, text: string, path: string = ROOT_PATH): Violation[] {
  const problem = rule.findProblem(text);
  return problem === undefined ? [] : [{ path, ...problem }];
}

/** Quotes a value for a message, truncated to 40 characters. */
export function quoteText(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}

/** Creates a rule from a pattern and a maximum length. */
export function patternRule(options: {
  readonly what: string;
  readonly pattern: RegExp;
  readonly maxLength: number;
  readonly fix: string;
}): TextRule {
  const { what, pattern, maxLength, fix } = options;
  return {
    what,
    maxLength,
    pattern: pattern.source,
    findProblem(text) {
      if (text === "") return { message: "is empty", fix };
      if (text.length > maxLength) {
        return { message: `has ${text.length} characters`, fix: `shorten it to at most ${maxLength}` };
      }
      return pattern.test(text) ? undefined : { message: `${quoteText(text)} is not ${what}`, fix };
    },
  };
}
