export interface Colours {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly warn: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
}

const ansi =
  (open: number, close: number) =>
  (text: string): string =>
    `\u001b[${open}m${text}\u001b[${close}m`;
const identity = (text: string): string => text;

const ANSI: Colours = {
  good: ansi(32, 39),
  bad: ansi(31, 39),
  warn: ansi(33, 39),
  dim: ansi(2, 22),
  bold: ansi(1, 22),
};

const PLAIN: Colours = { good: identity, bad: identity, warn: identity, dim: identity, bold: identity };

/** ANSI colours on a terminal, unless NO_COLOR or TERM=dumb disables them. */
export function createColours(isLive: boolean, env: Readonly<Record<string, string | undefined>>): Colours {
  const isForced = (env["FORCE_COLOR"] ?? "") !== "" && env["FORCE_COLOR"] !== "0";
  const isOff = (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  return isForced || (isLive && !isOff) ? ANSI : PLAIN;
}

const GOOD = new Set([
  "running",
  "available",
  "healthy",
  "ready",
  "succeeded",
  "created",
  "updated",
  "yes",
  "met",
  "true",
]);
const BAD = new Set([
  "down",
  "failed",
  "unhealthy",
  "degraded",
  "unreachable",
  "permanent",
  "no",
  "compensated",
  "violated",
]);

/** Colours a state: green for good, red for bad, yellow for all others. */
export function stateText(word: string, colours: Colours): string {
  const state = word.toLowerCase();
  if (GOOD.has(state)) return colours.good(word);
  return BAD.has(state) ? colours.bad(word) : colours.warn(word);
}
