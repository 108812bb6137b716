import { err, ok, ROOT_PATH, violationText, type Result, type Violation } from "@oaas/foundation";
import {
  canonicalRequirements,
  checkRequirement,
  type LabelOperator,
  type LabelRequirement,
  type LabelRequirements,
} from "./label-selector.ts";

/**
 * Parses a selector as in `kubectl -l` and `labelSelector=`: `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>4`.
 * The result is in canonical order. `==` is `=`; `a=b` is `a in (b)`. The empty text selects everything.
 */
export function parseLabelSelector(text: string): Result<LabelRequirements, Violation> {
  const reader = new Reader(text);
  const requirements: LabelRequirement[] = [];
  try {
    if (reader.peek() === undefined) return ok([]);
    do {
      const requirement = readRequirement(reader);
      const [violation] = checkRequirement(requirement);
      if (violation !== undefined) throw new Refusal(violationText({ ...violation, path: `"${requirement.key}"` }));
      requirements.push(requirement);
    } while (reader.takeIf(","));
    reader.end();
    return ok(canonicalRequirements(requirements));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    return err({ path: ROOT_PATH, message: `"${text}" is not a label selector: ${thrown.message}` });
  }
}

/** The canonical text of requirements: equal for equivalent selectors. Parsing it returns the requirements. */
export function formatLabelSelector(requirements: LabelRequirements): string {
  return canonicalRequirements(requirements).map(requirementText).join(",");
}

function requirementText({ key, operator, values }: LabelRequirement): string {
  const [only = "", ...more] = values;
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "In":
      return more.length === 0 ? `${key}=${only}` : `${key} in (${values.join(",")})`;
    case "NotIn":
      return more.length === 0 ? `${key}!=${only}` : `${key} notin (${values.join(",")})`;
    case "Gt":
      return `${key}>${only}`;
    case "Lt":
      return `${key}<${only}`;
  }
}

const OPERATORS: Readonly<Record<string, LabelOperator>> = {
  "=": "In",
  "==": "In",
  "!=": "NotIn",
  in: "In",
  notin: "NotIn",
  ">": "Gt",
  "<": "Lt",
};

function readRequirement(reader: Reader): LabelRequirement {
  if (reader.takeIf("!")) return { key: reader.word("a key"), operator: "DoesNotExist", values: [] };
  const key = reader.word("a key");
  const sign = reader.peek();
  if (sign === undefined || sign === ",") return { key, operator: "Exists", values: [] };
  const operator = Object.hasOwn(OPERATORS, sign) ? OPERATORS[sign] : undefined;
  if (operator === undefined) throw reader.unexpected("an operator");
  reader.take();
  const values = sign === "in" || sign === "notin" ? readSet(reader) : [readValue(reader)];
  return { key, operator, values };
}

/** `(x,,y)`: the empty text between commas is a value. */
function readSet(reader: Reader): string[] {
  if (!reader.takeIf("(")) throw reader.unexpected("(");
  const values = [];
  do values.push(readValue(reader));
  while (reader.takeIf(","));
  if (!reader.takeIf(")")) throw reader.unexpected(", or )");
  return values;
}

function readValue(reader: Reader): string {
  const next = reader.peek();
  return next === undefined || next === "," || next === ")" ? "" : reader.word("a value");
}

class Refusal extends Error {}

const TOKEN = /[ \t\r\n]*(==|!=|[=!(),<>]|[^=!(),<> \t\r\n]+)/y;

/** The tokens of a selector, with one token of look-ahead. */
class Reader {
  readonly #text: string;
  #at = 0;
  #next: string | undefined;
  #start = 0;

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  peek(): string | undefined {
    return this.#next;
  }

  take(): void {
    this.#advance();
  }

  takeIf(token: string): boolean {
    if (this.#next !== token) return false;
    this.#advance();
    return true;
  }

  word(what: string): string {
    const word = this.#next;
    if (word === undefined || /^[=!(),<>]/.test(word)) throw this.unexpected(what);
    this.#advance();
    return word;
  }

  end(): void {
    if (this.#next !== undefined) throw this.unexpected(", or the end");
  }

  unexpected(wanted: string): Refusal {
    const found = this.#next === undefined ? "the end" : `"${this.#next}" at ${this.#start + 1}`;
    return new Refusal(`expected ${wanted}, found ${found}`);
  }

  /** No match means the end: every character except white space begins a token. */
  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    this.#next = match?.[1];
    this.#start = match === null ? this.#text.length : TOKEN.lastIndex - (match[1]?.length ?? 0);
    this.#at = match === null ? this.#text.length : TOKEN.lastIndex;
  }
}
