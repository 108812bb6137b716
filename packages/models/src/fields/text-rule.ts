import { ROOT_PATH, type Violation } from "@oaas/foundation";

/** What is wrong with a value and how to put it right, before anyone knows where in a document it stands. */
export interface Objection {
  readonly message: string;
  readonly fix: string;
}

/** A rule that one text field must keep. `pattern` and `maxLength` describe it to machines; `objectionTo` decides. */
export interface TextRule {
  /** What the text is, as its reader would say: "a package name". */
  readonly what: string;
  readonly maxLength: number;
  /** A necessary form, for generated documents; the rule may be stricter. */
  readonly pattern?: string;
  objectionTo(text: string): Objection | undefined;
}

/** The violations of one text field: none or one. */
export function checkText(rule: TextRule, text: string, path: string = ROOT_PATH): Violation[] {
  const objection = rule.objectionTo(text);
  return objection === undefined ? [] : [{ path, ...objection }];
}

/** A value as it may be shown in a message: quoted, and short however long it is. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 39)}…` : text);
}

/** A rule made of a pattern and a length. */
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
    objectionTo(text) {
      if (text === "") return { message: "is empty", fix };
      if (text.length > maxLength) {
        return { message: `has ${text.length} characters`, fix: `shorten it to at most ${maxLength}` };
      }
      return pattern.test(text) ? undefined : { message: `${shown(text)} is not ${what}`, fix };
    },
  };
}
