import { labelValue, qualifiedName } from "../../kinds/validation/names.ts";

/** Why a text is not a label selector, in the words of Go's parser; undefined when it is valid. */
export function selectorRefusal(text: string): string | undefined {
  try {
    new SelectorReader(text).read();
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

class Refusal extends Error {}

const OPERATORS: ReadonlySet<string> = new Set(["=", "==", "!=", "in", "notin", ">", "<"]);
/** How the error lists them. */
const EXPECTED = "in, notin, =, ==, !=, gt, lt";
const SYMBOLS: ReadonlySet<string> = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);

/** Parses like Go, token by token, only to find errors. */
class SelectorReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  read(): void {
    while (this.#next !== "") {
      if (!isIdentifier(this.#next) && this.#next !== "!") {
        throw new Refusal(`found '${this.#next}', expected: !, identifier, or 'end of string'`);
      }
      this.#requirement();
      const after = this.#take();
      if (after === "") return;
      if (after !== ",") throw new Refusal(`found '${after}', expected: ',' or 'end of string'`);
      if (!isIdentifier(this.#next) && this.#next !== "!") {
        throw new Refusal(`found '${this.#next}', expected: identifier after ','`);
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

  #requirement(): void {
    const isAbsence = this.#next === "!";
    if (isAbsence) this.#take();
    const key = this.#take();
    if (!isIdentifier(key)) this.#refuse(`found '${key}', expected: identifier`);
    const [wrong] = qualifiedName(key);
    if (wrong !== undefined) this.#refuse(`<nil>: Invalid value: ${JSON.stringify(key)}: ${wrong}`);
    if (this.#next === "" || this.#next === ",") return;
    const operator = this.#take();
    if (!OPERATORS.has(operator)) this.#refuse(`found '${operator}', expected: ${EXPECTED}`);
    const values = operator === "in" || operator === "notin" ? this.#list() : this.#value();
    this.#check(key, operator, [...new Set(values)].sort());
  }

  #check(key: string, operator: string, values: readonly string[]): void {
    if (operator === ">" || operator === "<") {
      for (const [index, value] of values.entries()) {
        if (/^[+-]?\d+$/.test(value)) continue;
        const why = `for 'Gt', 'Lt' operators, the value must be an integer`;
        this.#refuse(`values[${index}]: Invalid value: ${JSON.stringify(value)}: ${why}`);
      }
    }
    for (const [index, value] of values.entries()) {
      const [wrong] = labelValue(value);
      if (wrong !== undefined)
        this.#refuse(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${wrong}`);
    }
  }

  #value(): readonly string[] {
    if (this.#next === "" || this.#next === ",") return [""];
    const token = this.#take();
    return isIdentifier(token) ? [token] : this.#refuse(`found '${token}', expected: identifier`);
  }

  #list(): readonly string[] {
    const open = this.#take();
    if (open !== "(") this.#refuse(`found '${open}' expected: '('`);
    if (this.#next === ")") {
      this.#take();
      return [""];
    }
    const first = this.#next;
    if (!isIdentifier(first) && first !== ",") this.#refuse(`found '${first}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      if (isIdentifier(token)) {
        values.push(token);
        if (this.#next !== "," && this.#next !== ")") this.#refuse(`found '${this.#next}', expected: ',' or ')'`);
      } else if (token === ",") {
        if (values.length === 0 || this.#next === ")" || this.#next === ",") values.push("");
      } else this.#refuse(`found '${token}', expected: ',', or identifier`);
      if (this.#next === ")") break;
    }
    this.#take();
    return values;
  }

  #refuse(why: string): never {
    throw new Refusal(`unable to parse requirement: ${why}`);
  }
}

function isIdentifier(token: string): boolean {
  return token !== "" && !SYMBOLS.has(token);
}

/** Operators as long as possible, and words between them. */
function tokensOf(text: string): readonly string[] {
  return text.match(/==|!=|[=!()<>,]|[^\s=!()<>,]+/g) ?? [];
}
