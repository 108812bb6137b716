import { ok } from "@oaas/foundation";
import { invalid, type Kind } from "./kind.ts";

/** Limits, both included. */
export interface Range {
  readonly min?: number;
  readonly max?: number;
}

const identity = <T>(value: T): T => value;

/** Any text, unchanged. `pattern` restricts it; `patternName` describes the pattern in messages. */
export function stringKind(options: { readonly pattern?: RegExp; readonly patternName?: string } = {}): Kind<string> {
  const label = options.patternName ?? "text";
  return {
    label,
    echo: true,
    parse: (text) =>
      options.pattern === undefined || options.pattern.test(text) ? ok(text) : invalid(`must be ${label}`),
    show: identity,
    fromDefault: identity,
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
    const value = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    return Number.isFinite(value) ? value : undefined;
  });
}

/** A TCP port; 0 selects a free one. */
export function portKind(): Kind<number> {
  return { ...intKind({ min: 0, max: 65_535 }), label: PORT_LABEL };
}

/** Identifies ports, because Kubernetes may inject `<SERVICE>_PORT=tcp://…` for them. */
export const PORT_LABEL = "port";
export const BOOL_LABEL = "true | false";

const BOOLS: ReadonlyMap<string, boolean> = new Map([
  ...["true", "1", "yes", "on"].map((word) => [word, true] as const),
  ...["false", "0", "no", "off"].map((word) => [word, false] as const),
]);

/** true or false; also 1/0, yes/no, on/off. */
export function boolKind(): Kind<boolean> {
  return {
    label: BOOL_LABEL,
    echo: true,
    parse: (text) => {
      const value = BOOLS.get(text.trim().toLowerCase());
      return value === undefined ? invalid("must be true or false") : ok(value);
    },
    show: String,
    fromDefault: identity,
  };
}

/** One option of a list, case-insensitive. `synonyms` map further texts to options. */
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
      return value === undefined ? invalid(`must be one of ${options.join(", ")}`) : ok(value);
    },
    show: identity,
    fromDefault: identity,
  };
}

/** An absolute URL with one of the given schemes, unchanged. */
export function urlKind(schemes: readonly string[] = ["http", "https"]): Kind<string> {
  const requirement = `must be a URL that starts with ${schemes.map((scheme) => `${scheme}://`).join(" or ")}`;
  return {
    label: "URL",
    echo: true,
    parse: (text) => {
      const url = URL.parse(text.trim());
      const fits = url !== null && url.host !== "" && schemes.includes(url.protocol.slice(0, -1));
      return fits ? ok(text.trim()) : invalid(requirement);
    },
    show: identity,
    fromDefault: identity,
  };
}

/** Path of a file or folder. Its existence is not checked. */
export function pathKind(): Kind<string> {
  return {
    label: "file path",
    echo: true,
    parse: (text) => (text.includes("\0") ? invalid("must not contain a NUL character") : ok(text)),
    show: identity,
    fromDefault: identity,
  };
}

function numberKind(label: string, range: Range, parse: (text: string) => number | undefined): Kind<number> {
  return {
    label,
    echo: true,
    parse: (text) => {
      const value = parse(text.trim());
      const fits = value !== undefined && value >= (range.min ?? -Infinity) && value <= (range.max ?? Infinity);
      return fits ? ok(value) : invalid(`must be a ${label}`);
    },
    show: String,
    fromDefault: identity,
  };
}

function rangeText({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max}`;
}
