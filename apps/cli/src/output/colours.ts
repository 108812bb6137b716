export interface Colours {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const wrapped =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;
const asIs = (text: string): string => text;

const ANSI: Colours = {
  good: wrapped(32, 39),
  bad: wrapped(31, 39),
  warn: wrapped(33, 39),
  dim: wrapped(2, 22),
  bold: wrapped(1, 22),
};

const PLAIN: Colours = { good: asIs, bad: asIs, warn: asIs, dim: asIs, bold: asIs };

/** ANSI colours on a terminal, unless NO_COLOR or TERM=dumb disables them. */
export function coloursFor(isLive: boolean, env: Readonly<Record<string, string | undefined>>): Colours {
  const isForced = (env["FORCE_COLOR"] ?? "") !== "" && env["FORCE_COLOR"] !== "0";
  const isOff = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return isForced || (isLive && !isOff) ? ANSI : PLAIN;
}

const GOOD = new Set(["running", "available", "healthy", "ready", "succeeded", "created", "updated", "yes"]);
const BAD = new Set(["down", "failed", "unhealthy", "degraded", "unreachable", "permanent", "no", "compensated"]);

/** Colours a state: green for good, red for bad, yellow for all others. */
export function stateText(word: string, colours: Colours): string {
  const known = word.toLowerCase();
  if (GOOD.has(known)) return colours.good(word);
  return BAD.has(known) ? colours.bad(word) : colours.warn(word);
}
