import { labelValue, qualifiedName } from "../../kinds/validation/names.ts";

/** Why a text is not a label selector, with the messages of Go's parser; undefined when it is valid. */
export function findSelectorError(text: string): string | undefined {
  try {
    new SelectorParser(text).parse();
    return undefined;
  } catch (error) {
    if (error instanceof SelectorError) return error.message;
    throw error;
  }
}

class SelectorError extends Error {}

const OPERATORS: ReadonlySet<string> = new Set(["=", "==", "!=", "in", "notin", ">", "<"]);
/** How the error lists them. */
const EXPECTED = "in, notin, =, ==, !=, gt, lt";
const SYMBOLS: ReadonlySet<string> = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);

/** Parses like Go, token by token, only to find errors. */
class SelectorParser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  parse(): void {
    while (this.#next !== "") {
      if (!isIdentifier(this.#next) && this.#next !== "!") {
        throw new SelectorError(`found '${this.#next}', expected: !, identifier, or 'end of string'`);
      }
      this.#parseRequirement();
      const after = this.#take();
      if (after === "") return;
      if (after !== ",") throw new SelectorError(`found '${after}', expected: ',' or 'end of string'`);
      if (!isIdentifier(this.#next) && this.#next !== "!") {
        throw new SelectorError(`found '${this.#next}', expected: identifier after ','`);
      }
    }
  }

  get #next(): string {
    return this.#tokens[this.#at] ?? "";
  }

  #take(): string {
    const token = this.#next;
    this.#at += 1;
    return token;
  }

  #parseRequirement(): void {
    const isAbsence = this.#next === "!";
    if (isAbsence) this.#take();
    const key = this.#take();
    if (!isIdentifier(key)) this.#fail(`found '${key}', expected: identifier`);
    const [error] = qualifiedName(key);
    if (error !== undefined) this.#fail(`<nil>: Invalid value: ${JSON.stringify(key)}: ${error}`);
    if (this.#next === "" || this.#next === ",") return;
    const operator = this.#take();
    if (!OPERATORS.has(operator)) this.#fail(`found '${operator}', expected: ${EXPECTED}`);
    const values = operator === "in" || operator === "notin" ? this.#parseList() : this.#parseValue();
    this.#checkValues(key, operator, [...new Set(values)].sort());
  }

  #checkValues(key: string, operator: string, values: readonly string[]): void {
    if (operator === ">" || operator === "<") {
      for (const [index, value] of values.entries()) {
        if (/^[+-]?\d+$/.test(value)) continue;
        const reason = `for 'Gt', 'Lt' operators, the value must be an integer`;
        this.#fail(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${reason}`);
      }
    }
    for (const [index, value] of values.entries()) {
      const [error] = labelValue(value);
      if (error !== undefined)
        this.#fail(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${error}`);
    }
  }

  #parseValue(): readonly string[] {
    if (this.#next === "" || this.#next === ",") return [""];
    const token = this.#take();
    return isIdentifier(token) ? [token] : this.#fail(`found '${token}', expected: identifier`);
  }

  #parseList(): readonly string[] {
    const open = this.#take();
    if (open !== "(") this.#fail(`found '${open}' expected: '('`);
    if (this.#next === ")") {
      this.#take();
      return [""];
    }
    const first = this.#next;
    if (!isIdentifier(first) && first !== ",") this.#fail(`found '${first}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      if (isIdentifier(token)) {
        values.push(token);
        if (this.#next !== "," && this.#next !== ")") this.#fail(`found '${this.#next}', expected: ',' or ')'`);
      } else if (token === ",") {
        if (values.length === 0 || this.#next === ")" || this.#next === ",") values.push("");
      } else this.#fail(`found '${token}', expected: ',', or identifier`);
      if (this.#next === ")") break;
    }
    this.#take();
    return values;
  }

  #fail(reason: string): never {
    throw new SelectorError(`unable to parse requirement: ${reason}`);
  }
}

function isIdentifier(token: string): boolean {
  return token !== "" && !SYMBOLS.has(token);
}

/** Operators as long as possible, and words between them. */
function tokenize(text: string): readonly string[] {
  return text.match(/==|!=|[=!()<>,]|[^\s=!()<>,]+/g) ?? [];
}
