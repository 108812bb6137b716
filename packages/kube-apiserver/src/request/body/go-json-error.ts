import { quoteGoString } from "../../go-format.ts";

/** Why a text is not JSON, with Go's message. */
export interface GoSyntaxError {
  readonly message: string;
}

const END = "unexpected end of JSON input";

/** Computes the error of Go's parser for invalid JSON: reads until the first invalid character. */
export function findSyntaxError(text: string): GoSyntaxError {
  const reader = new Reader(text);
  try {
    reader.readValue("looking for beginning of value");
    reader.skipSpace();
    if (reader.at < text.length) reader.fail("after top-level value");
    return { message: END };
  } catch (error) {
    return { message: error instanceof JsonError ? error.message : END };
  }
}

class JsonError extends Error {}

class Reader {
  readonly #text: string;
  at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  fail(where: string): never {
    const character = this.#text.codePointAt(this.at);
    if (character === undefined) throw new JsonError(END);
    throw new JsonError(`invalid character ${quoteCharacter(String.fromCodePoint(character))} ${where}`);
  }

  skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  readValue(where: string): void {
    this.#depth += 1;
    if (this.#depth > 10_000) throw new JsonError("exceeded max depth");
    this.skipSpace();
    const first = this.#text[this.at] ?? "";
    if (first === "{") this.#readObject();
    else if (first === "[") this.#readList();
    else if (first === '"') this.#readString();
    else if (first === "-" || (first >= "0" && first <= "9")) this.#readNumber();
    else if (first === "t") this.#readLiteral("true");
    else if (first === "f") this.#readLiteral("false");
    else if (first === "n") this.#readLiteral("null");
    else this.fail(where);
    this.#depth -= 1;
  }

  #readObject(): void {
    this.at += 1;
    this.skipSpace();
    if (this.#text[this.at] === "}") {
      this.at += 1;
      return;
    }
    for (;;) {
      this.skipSpace();
      if (this.#text[this.at] !== '"') this.fail("looking for beginning of object key string");
      this.#readString();
      this.skipSpace();
      if (this.#text[this.at] !== ":") this.fail("after object key");
      this.at += 1;
      this.readValue("looking for beginning of value");
      this.skipSpace();
      const next = this.#text[this.at];
      if (next !== "," && next !== "}") this.fail("after object key:value pair");
      this.at += 1;
      if (next === "}") return;
    }
  }

  #readList(): void {
    this.at += 1;
    this.skipSpace();
    if (this.#text[this.at] === "]") {
      this.at += 1;
      return;
    }
    for (;;) {
      this.readValue("looking for beginning of value");
      this.skipSpace();
      const next = this.#text[this.at];
      if (next !== "," && next !== "]") this.fail("after array element");
      this.at += 1;
      if (next === "]") return;
    }
  }

  #readString(): void {
    this.at += 1;
    for (;;) {
      const next = this.#text[this.at];
      if (next === undefined) throw new JsonError(END);
      if (next === '"') break;
      if (next < " ") this.fail("in string literal");
      if (next === "\\") {
        this.at += 1;
        const escape = this.#text[this.at];
        if (escape === undefined) throw new JsonError(END);
        if (!/["\\/bfnrtu]/.test(escape)) this.fail("in string escape code");
        if (escape === "u") this.#readHex();
      }
      this.at += 1;
    }
    this.at += 1;
  }

  #readHex(): void {
    for (let digit = 0; digit < 4; digit += 1) {
      this.at += 1;
      if (!/[0-9a-fA-F]/.test(this.#text[this.at] ?? "")) this.fail("in \\u hexadecimal character escape");
    }
  }

  #readNumber(): void {
    if (this.#text[this.at] === "-") this.at += 1;
    if (!/\d/.test(this.#text[this.at] ?? "")) this.fail("in numeric literal");
    if (this.#text[this.at] === "0") this.at += 1;
    else this.#skipDigits();
    if (this.#text[this.at] === ".") {
      this.at += 1;
      if (!/\d/.test(this.#text[this.at] ?? "")) this.fail("after decimal point in numeric literal");
      this.#skipDigits();
    }
    if (/[eE]/.test(this.#text[this.at] ?? "")) {
      this.at += 1;
      if (/[+-]/.test(this.#text[this.at] ?? "")) this.at += 1;
      if (!/\d/.test(this.#text[this.at] ?? "")) this.fail("in exponent of numeric literal");
      this.#skipDigits();
    }
  }

  #skipDigits(): void {
    while (/\d/.test(this.#text[this.at] ?? "")) this.at += 1;
  }

  #readLiteral(word: string): void {
    for (const letter of word) {
      if (this.#text[this.at] !== letter) this.fail(`in literal ${word} (expecting '${letter}')`);
      this.at += 1;
    }
  }
}

/** A byte as Go's decoder quotes it: it treats each byte as a character. */
function quoteCharacter(character: string): string {
  if (character === "'") return String.raw`'\''`;
  if (character === '"') return `'"'`;
  // Invalid UTF-8 was replaced when it was read; the original byte is unknown.
  if (character === "\uFFFD") return "'ÿ'";
  const code = character.codePointAt(0) ?? 0;
  const byte = code < 0x1_00 ? character : String.fromCodePoint(Buffer.from(character)[0] ?? 0);
  return `'${quoteGoString(byte).slice(1, -1)}'`;
}
