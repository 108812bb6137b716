/*
 * A parser for the regular expressions of our sources. Single characters (classes, escapes, the dot) are left to the real
 * engine; only the structure matters here.
 */

/** A part of a regular expression. */
export type Part =
  | { readonly type: "char"; readonly matches: (char: string) => boolean; readonly samples: readonly string[] }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly parts: readonly Part[] }
  | {
      readonly type: "repeat";
      readonly part: Part;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
      /** The bounds were reduced: the part behaves alike, and matches fewer texts. */
      readonly isReduced: boolean;
    }
  | { readonly type: "look"; readonly part: Part; readonly isAhead: boolean; readonly isNegative: boolean }
  | { readonly type: "assertion"; readonly kind: "^" | "$" | "b" | "B" };

/** Bounded repetitions are reduced to so many: their cost is a constant factor. */
const MAX_COPIES = 6;

/** Characters to choose samples from. */
const ALPHABET = [
  ...Array.from("a0 A-._/:\"'\\{}[]()<>=,;#@!$%&*+?^`|~\n\t\rz9"),
  ...Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)),
  "世",
  "…",
  "✓",
  "😀",
];

/** Parses a pattern; throws for syntax it does not know. */
export function parsePattern(source: string, flags: string): Part {
  const parser = new PatternParser(source, flags);
  return parser.parse();
}

class PatternParser {
  readonly #source: string;
  readonly #flags: string;
  #at = 0;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  parse(): Part {
    const part = this.#choice();
    if (this.#at < this.#source.length) throw this.#unknown();
    return part;
  }

  #choice(): Part {
    const parts = [this.#sequence()];
    while (this.#take("|")) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as Part) : { type: "choice", parts };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#source.charAt(this.#at))) parts.push(this.#term());
    return { type: "sequence", parts };
  }

  #term(): Part {
    const atom = this.#atom();
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(this.#source.slice(this.#at, this.#at + 20))?.[0];
    if (quantifier === undefined) return atom;
    this.#at += quantifier.length;
    return repeat(atom, quantifier);
  }

  #atom(): Part {
    if (this.#take("^")) return { type: "assertion", kind: "^" };
    if (this.#take("$")) return { type: "assertion", kind: "$" };
    if (this.#take(String.raw`\b`)) return { type: "assertion", kind: "b" };
    if (this.#take(String.raw`\B`)) return { type: "assertion", kind: "B" };
    if (this.#source.startsWith("(", this.#at)) return this.#group();
    return this.#char();
  }

  #group(): Part {
    const [opening = ""] =
      /^\((?:\?(?::|<?[=!]|<[A-Za-z_]\w*>))?/.exec(this.#source.slice(this.#at, this.#at + 60)) ?? [];
    this.#at += opening.length;
    const part = this.#choice();
    if (!this.#take(")")) throw this.#unknown();
    if (!/[=!]$/.test(opening)) return part;
    return { type: "look", part, isAhead: !opening.includes("<"), isNegative: opening.endsWith("!") };
  }

  #char(): Part {
    const rest = this.#source.slice(this.#at);
    const atom =
      /^(?:\[(?:[^\]\\]|\\.)*\]|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\c[A-Za-z]|\\[pP]\{[^}]*\}|\\[^1-9k]|[^\\])/su.exec(
        rest,
      )?.[0];
    if (atom === undefined) throw this.#unknown();
    this.#at += atom.length;
    const real = new RegExp(`^${atom}$`, this.#flags.replaceAll(/[gy]/g, ""));
    const known = new Map<string, boolean>();
    const matches = (char: string): boolean => {
      let answer = known.get(char);
      if (answer === undefined) known.set(char, (answer = real.test(char)));
      return answer;
    };
    const samples = ALPHABET.filter(matches).slice(0, 8);
    return { type: "char", matches, samples };
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #unknown(): Error {
    return new Error(`unknown syntax in /${this.#source}/ at ${this.#at}`);
  }
}

function repeat(part: Part, quantifier: string): Part {
  const isLazy = quantifier.length > 1 && quantifier.endsWith("?");
  const [, low = "0", comma, high = ""] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? [];
  const bounds: Readonly<Record<string, readonly [number, number]>> = {
    "*": [0, Infinity],
    "+": [1, Infinity],
    "?": [0, 1],
  };
  const [min, max] = bounds[quantifier.charAt(0)] ?? [
    Number(low),
    comma === "" ? Number(low) : high === "" ? Infinity : Number(high),
  ];
  const fewest = Math.min(min, MAX_COPIES);
  const most = max === Infinity ? Infinity : Math.min(max, fewest + MAX_COPIES);
  return { type: "repeat", part, min: fewest, max: most, isLazy, isReduced: fewest !== min || most !== max };
}
