import { ok } from "@oaas/foundation";
import { wrong, type Kind } from "./kind.ts";

/** Least and greatest value allowed, both included. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

const asWritten = <T>(value: T): T => value;

/** Any text, kept as it is; `pattern` narrows it and `patternName` says in words what it wants. */
export function stringKind(options: { readonly pattern?: RegExp; readonly patternName?: string } = {}): Kind<string> {
  const label = options.patternName ?? "text";
  return {
    label,
    echo: true,
    parse: (text) =>
      options.pattern === undefined || options.pattern.test(text) ? ok(text) : wrong(`must be ${label}`),
    show: asWritten,
    fromDefault: asWritten,
  };
}

/** A whole number. */
export function intKind(range: Range = {}): Kind<number> {
  const label = `whole number${rangeText(range)}`;
  return numberKind(label, range, (text) => {
    const value = /^[+-]?\d+$/.test(text) ? Number(text) : Number.NaN;
    return Number.isSafeInteger(value) ? value : undefined;
  });
}

/** A number with or without a fraction. */
export function floatKind(range: Range = {}): Kind<number> {
  const label = `number${rangeText(range)}`;
  return numberKind(label, range, (text) => {
    const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) ? value : undefined;
  });
}

/** A TCP port; 0 lets the system choose a free one. */
export function portKind(): Kind<number> {
  return { ...intKind({ min: 0, max: 65_535 }), label: PORT_LABEL };
}

/** Marks ports, because Kubernetes may inject `<SERVICE>_PORT=tcp://…` over them. */
export const PORT_LABEL = "port";
export const BOOL_LABEL = "true | false";

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "yes", "on"].map((word) => [word, true] as const),
  ...["false", "0", "no", "off"].map((word) => [word, false] as const),
]);

/** true or false, also written 1/0, yes/no, on/off. */
export function boolKind(): Kind<boolean> {
  return {
    label: BOOL_LABEL,
    echo: true,
    parse: (text) => {
      const value = BOOLS.get(text.trim().toLowerCase());
      return value === undefined ? wrong("must be true or false") : ok(value);
    },
    show: String,
    fromDefault: asWritten,
  };
}

/** One of a fixed list, in any letter case; `synonyms` are accepted too and mean the option they name. */
export function oneOfKind<const O extends readonly string[]>(
  options: O,
  synonyms: Readonly<Record<string, O[number]>> = {},
): Kind<O[number]> {
  const known = new Map<string, O[number]>(Object.entries(synonyms));
  for (const option of options) known.set(option.toLowerCase(), option);
  return {
    label: options.join(" | "),
    echo: true,
    parse: (text) => {
      const value = known.get(text.trim().toLowerCase());
      return value === undefined ? wrong(`must be one of ${options.join(", ")}`) : ok(value);
    },
    show: asWritten,
    fromDefault: asWritten,
  };
}

/** An absolute URL of one of the given schemes, kept as written. */
export function urlKind(schemes: readonly string[] = ["http", "https"]): Kind<string> {
  const wanted = `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  return {
    label: "URL",
    echo: true,
    parse: (text) => {
      const url = URL.parse(text.trim());
      const fits = url !== null && url.host !== "" && schemes.includes(url.protocol.slice(0, -1));
      return fits ? ok(text.trim()) : wrong(wanted);
    },
    show: asWritten,
    fromDefault: asWritten,
  };
}

/** The path of a file or folder; whether it exists is for its user to find out. */
export function pathKind(): Kind<string> {
  return {
    label: "file path",
    echo: true,
    parse: (text) => (text.includes("\0") ? wrong("must not contain a NUL character") : ok(text)),
    show: asWritten,
    fromDefault: asWritten,
  };
}

function numberKind(label: string, range: Range, read: (text: string) => number | undefined): Kind<number> {
  return {
    label,
    echo: true,
    parse: (text) => {
      const value = read(text.trim());
      const fits = value !== undefined && value >= (range.min ?? -Infinity) && value <= (range.max ?? Infinity);
      return fits ? ok(value) : wrong(`must be a ${label}`);
    },
    show: String,
    fromDefault: asWritten,
  };
}

function rangeText({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max}`;
}
