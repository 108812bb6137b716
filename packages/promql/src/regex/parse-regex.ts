import { invalidQuery } from "../errors.ts";

/** Code points from `lo` to `hi`. */
export type CharRange = readonly [lo: number, hi: number];

/** A parsed regular expression of the subset of RE2 that real queries use. */
export type RegexNode =
  | { readonly type: "char"; readonly ranges: readonly CharRange[]; readonly isNegated: boolean }
  | { readonly type: "sequence" | "choice"; readonly parts: readonly RegexNode[] }
  | {
      readonly type: "repeat";
      readonly part: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    }
  | { readonly type: "group"; readonly part: RegexNode; readonly index: number }
  | { readonly type: "begin" | "end" };

export interface ParsedRegex {
  readonly root: RegexNode;
  readonly ignoresCase: boolean;
  /** Capturing groups by number; unnamed ones have no name. */
  readonly groupNames: readonly (string | undefined)[];
}

const MAX_PATTERN = 1000;
const MAX_DEPTH = 50;
/** The limit of RE2. */
const MAX_REPEAT = 1000;

const ANY: RegexNode = { type: "char", ranges: [], isNegated: true };
const DIGITS: readonly CharRange[] = [[0x30, 0x39]];
const SPACES: readonly CharRange[] = [
  [0x09, 0x0a],
  [0x0c, 0x0d],
  [0x20, 0x20],
];
const WORDS: readonly CharRange[] = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
];
const CONTROLS: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const SPECIAL = new Set("\\.+*?()|[]{}^$");
const NAME_CHARS = new Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

/** Parses a pattern; what is outside the subset is refused by name. */
export function parseRegex(pattern: string): ParsedRegex {
  if (pattern.length > MAX_PATTERN) {
    throw invalidQuery(`regular expression is longer than ${MAX_PATTERN} characters`);
  }
  return new RegexParser(pattern).parse();
}

class RegexParser {
  readonly #pattern: string;
  readonly #chars: readonly string[];
  readonly #groupNames: (string | undefined)[] = [undefined];
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
    this.#chars = Array.from(pattern);
  }

  parse(): ParsedRegex {
    const ignoresCase = this.#accept("(?i)");
    const root = this.#choice();
    if (this.#at < this.#chars.length) throw this.#error("unexpected )");
    return { root, ignoresCase, groupNames: this.#groupNames };
  }

  #choice(): RegexNode {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#error(`more than ${MAX_DEPTH} nested groups`);
    const parts = [this.#sequence()];
    while (this.#accept("|")) parts.push(this.#sequence());
    this.#depth -= 1;
    return parts.length === 1 && parts[0] ? parts[0] : { type: "choice", parts };
  }

  #sequence(): RegexNode {
    const parts: RegexNode[] = [];
    while (this.#at < this.#chars.length && this.#peek() !== "|" && this.#peek() !== ")") {
      parts.push(this.#repeat(this.#atom()));
    }
    return { type: "sequence", parts };
  }

  #repeat(part: RegexNode): RegexNode {
    const bounds = this.#bounds();
    if (!bounds) return part;
    const isLazy = this.#accept("?");
    if (this.#bounds()) throw this.#error("invalid nested repetition operator");
    return { type: "repeat", part, ...bounds, isLazy };
  }

  #bounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.#accept("*")) return { min: 0, max: Infinity };
    if (this.#accept("+")) return { min: 1, max: Infinity };
    if (this.#accept("?")) return { min: 0, max: 1 };
    return this.#peek() === "{" ? this.#counts() : undefined;
  }

  /** `{2}`, `{2,}` or `{2,5}`; other braces are literals. */
  #counts(): { readonly min: number; readonly max: number } | undefined {
    const close = this.#chars.indexOf("}", this.#at);
    if (close < 0) return undefined;
    const [min, max, more] = this.#chars
      .slice(this.#at + 1, close)
      .join("")
      .split(",");
    if (
      more !== undefined ||
      min === undefined ||
      !isDigits(min) ||
      !(max === undefined || max === "" || isDigits(max))
    ) {
      return undefined;
    }
    const least = Number(min);
    const most = max === undefined ? least : max === "" ? Infinity : Number(max);
    const largest = Number.isFinite(most) ? most : least;
    if (largest > MAX_REPEAT || most < least) throw this.#error("invalid repeat count");
    this.#at = close + 1;
    return { min: least, max: most };
  }

  #atom(): RegexNode {
    const char = this.#next();
    switch (char) {
      case "(":
        return this.#group();
      case "[":
        return this.#set();
      case ".":
        return ANY;
      case "^":
        return { type: "begin" };
      case "$":
        return { type: "end" };
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw this.#error(`missing argument to repetition operator: ${char}`);
      default:
        return literal(char);
    }
  }

  #group(): RegexNode {
    if (this.#accept("?:")) return this.#close(this.#choice());
    let name: string | undefined;
    if (this.#accept("?P<") || this.#accept("?<")) name = this.#groupName();
    else if (this.#peek() === "?") throw this.#error("flags and look-around are not supported, except (?i) in front");
    const index = this.#groupNames.push(name) - 1;
    return { type: "group", part: this.#close(this.#choice()), index };
  }

  #groupName(): string {
    let name = "";
    while (this.#at < this.#chars.length && this.#peek() !== ">") name += this.#next();
    if (!this.#accept(">") || name === "" || Array.from(name).some((char) => !NAME_CHARS.has(char))) {
      throw this.#error("invalid group name");
    }
    return name;
  }

  #close(part: RegexNode): RegexNode {
    if (!this.#accept(")")) throw this.#error("missing closing )");
    return part;
  }

  #set(): RegexNode {
    const isNegated = this.#accept("^");
    const ranges: CharRange[] = [];
    for (let isFirst = true; isFirst || this.#peek() !== "]"; isFirst = false) {
      if (this.#at >= this.#chars.length) throw this.#error("missing closing ]");
      if (this.#peek() === "[" && this.#peek(1) === ":")
        throw this.#error("named classes such as [:alpha:] are not supported");
      ranges.push(...this.#setItem());
    }
    this.#at += 1;
    return { type: "char", ranges, isNegated };
  }

  #setItem(): readonly CharRange[] {
    const first = this.#setChar();
    if (first.length !== 1 || this.#peek() !== "-" || this.#peek(1) === "]" || this.#peek(1) === "") return first;
    this.#at += 1;
    const [lo] = first;
    const [hi] = this.#setChar();
    if (!lo || !hi || hi[0] < lo[0]) throw this.#error("invalid character class range");
    return [[lo[0], hi[1]]];
  }

  #setChar(): readonly CharRange[] {
    const char = this.#next();
    if (char !== "\\") return [point(codeOf(char))];
    const node = this.#escape();
    if (node.type !== "char" || node.isNegated) throw this.#error("negated classes are not supported within [ ]");
    return node.ranges;
  }

  #escape(): RegexNode {
    const char = this.#next();
    const lower = char.toLowerCase();
    const named = { d: DIGITS, s: SPACES, w: WORDS }[lower];
    if (named) return { type: "char", ranges: named, isNegated: char !== lower };
    if (SPECIAL.has(char) || !NAME_CHARS.has(char)) return literal(char);
    if (char === "x") return this.#hexadecimal();
    const control = CONTROLS[char];
    if (control === undefined) throw this.#error(`escape sequence \\${char} is not supported`);
    return { type: "char", ranges: [point(control)], isNegated: false };
  }

  #hexadecimal(): RegexNode {
    let digits = "";
    if (this.#accept("{")) {
      while (this.#at < this.#chars.length && this.#peek() !== "}") digits += this.#next();
      this.#at += 1;
    } else digits = this.#next() + this.#next();
    const code = isHexadecimal(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (!(code <= 0x10_ffff)) throw this.#error("invalid escape sequence \\x");
    return { type: "char", ranges: [point(code)], isNegated: false };
  }

  #peek(ahead = 0): string {
    return this.#chars[this.#at + ahead] ?? "";
  }

  #next(): string {
    const char = this.#chars[this.#at];
    if (char === undefined) throw this.#error("unexpected end");
    this.#at += 1;
    return char;
  }

  #accept(text: string): boolean {
    for (let index = 0; index < text.length; index += 1) if (this.#peek(index) !== text[index]) return false;
    this.#at += text.length;
    return true;
  }

  #error(problem: string): Error {
    return invalidQuery(`invalid regular expression ${JSON.stringify(this.#pattern)}: ${problem}`);
  }
}

function literal(char: string): RegexNode {
  return { type: "char", ranges: [point(codeOf(char))], isNegated: false };
}

function point(code: number): CharRange {
  return [code, code];
}

function codeOf(char: string): number {
  return char.codePointAt(0) ?? 0;
}

function isDigits(text: string): boolean {
  return text.length > 0 && text.length < 5 && Array.from(text).every((char) => char >= "0" && char <= "9");
}

function isHexadecimal(text: string): boolean {
  return (
    text.length > 0 &&
    text.length < 7 &&
    Array.from(text.toLowerCase()).every((char) => "0123456789abcdef".includes(char))
  );
}
