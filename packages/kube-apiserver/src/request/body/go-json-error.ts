import { goQuoted } from "../../go-format.ts";

/** Why a text is not JSON, in Go's words. */
export interface GoSyntaxError {
  readonly message: string;
}

const END = "unexpected end of JSON input";

/** Computes the error of Go's parser for invalid JSON: reads until the first invalid character. */
export function goSyntaxError(text: string): GoSyntaxError {
  const reader = new Reader(text);
  try {
    reader.value("looking for beginning of value");
    reader.space();
    if (reader.at < text.length) reader.refuse("after top-level value");
    return { message: END };
  } catch (error) {
    return { message: error instanceof Refusal ? error.message : END };
  }
}

class Refusal extends Error {}

class Reader {
  readonly #text: string;
  at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  refuse(where: string): never {
    const character = this.#text.codePointAt(this.at);
    if (character === undefined) throw new Refusal(END);
    throw new Refusal(`invalid character ${goCharacter(String.fromCodePoint(character))} ${where}`);
  }

  space(): void {
    while (/[ \t\r\n]/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  value(where: string): void {
    this.#depth += 1;
    if (this.#depth > 10_000) throw new Refusal("exceeded max depth");
    this.space();
    const first = this.#text[this.at] ?? "";
    if (first === "{") this.#object();
    else if (first === "[") this.#list();
    else if (first === '"') this.#string();
    else if (first === "-" || (first >= "0" && first <= "9")) this.#number();
    else if (first === "t") this.#literal("true");
    else if (first === "f") this.#literal("false");
    else if (first === "n") this.#literal("null");
    else this.refuse(where);
    this.#depth -= 1;
  }

  #object(): void {
    this.at += 1;
    this.space();
    if (this.#text[this.at] === "}") {
      this.at += 1;
      return;
    }
    for (;;) {
      this.space();
      if (this.#text[this.at] !== '"') this.refuse("looking for beginning of object key string");
      this.#string();
      this.space();
      if (this.#text[this.at] !== ":") this.refuse("after object key");
      this.at += 1;
      this.value("looking for beginning of value");
      this.space();
      const next = this.#text[this.at];
      if (next !== "," && next !== "}") this.refuse("after object key:value pair");
      this.at += 1;
      if (next === "}") return;
    }
  }

  #list(): void {
    this.at += 1;
    this.space();
    if (this.#text[this.at] === "]") {
      this.at += 1;
      return;
    }
    for (;;) {
      this.value("looking for beginning of value");
      this.space();
      const next = this.#text[this.at];
      if (next !== "," && next !== "]") this.refuse("after array element");
      this.at += 1;
      if (next === "]") return;
    }
  }

  #string(): void {
    this.at += 1;
    for (;;) {
      const next = this.#text[this.at];
      if (next === undefined) throw new Refusal(END);
      if (next === '"') break;
      if (next < " ") this.refuse("in string literal");
      if (next === "\\") {
        this.at += 1;
        const escape = this.#text[this.at];
        if (escape === undefined) throw new Refusal(END);
        if (!/["\\/bfnrtu]/.test(escape)) this.refuse("in string escape code");
        if (escape === "u") this.#hex();
      }
      this.at += 1;
    }
    this.at += 1;
  }

  #hex(): void {
    for (let digit = 0; digit < 4; digit += 1) {
      this.at += 1;
      if (!/[0-9a-fA-F]/.test(this.#text[this.at] ?? "")) this.refuse("in \\u hexadecimal character escape");
    }
  }

  #number(): void {
    if (this.#text[this.at] === "-") this.at += 1;
    if (!/\d/.test(this.#text[this.at] ?? "")) this.refuse("in numeric literal");
    if (this.#text[this.at] === "0") this.at += 1;
    else this.#digits();
    if (this.#text[this.at] === ".") {
      this.at += 1;
      if (!/\d/.test(this.#text[this.at] ?? "")) this.refuse("after decimal point in numeric literal");
      this.#digits();
    }
    if (/[eE]/.test(this.#text[this.at] ?? "")) {
      this.at += 1;
      if (/[+-]/.test(this.#text[this.at] ?? "")) this.at += 1;
      if (!/\d/.test(this.#text[this.at] ?? "")) this.refuse("in exponent of numeric literal");
      this.#digits();
    }
  }

  #digits(): void {
    while (/\d/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  #literal(word: string): void {
    for (const letter of word) {
      if (this.#text[this.at] !== letter) this.refuse(`in literal ${word} (expecting '${letter}')`);
      this.at += 1;
    }
  }
}

/** A byte as Go's decoder quotes it: it treats each byte as a character. */
function goCharacter(character: string): string {
  if (character === "'") return String.raw`'\''`;
  if (character === '"') return `'"'`;
  // Invalid UTF-8 was replaced when it was read; the original byte is unknown.
  if (character === "\uFFFD") return "'ÿ'";
  const code = character.codePointAt(0) ?? 0;
  const byte = code < 0x1_00 ? character : String.fromCodePoint(Buffer.from(character)[0] ?? 0);
  return `'${goQuoted(byte).slice(1, -1)}'`;
}
