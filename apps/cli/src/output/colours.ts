import { CLUSTER_WORDS, CONDITION_WORDS, OUTCOME_WORDS, PHASE_WORDS, type HealthWord } from "@oaas/contracts/health";

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

/** The words of the health vocabulary, and words of other answers. */
const TONES: Readonly<Record<string, HealthWord["tone"]>> = {
  ...Object.fromEntries(
    [CONDITION_WORDS, CLUSTER_WORDS, OUTCOME_WORDS, PHASE_WORDS].flatMap((words) =>
      Object.entries<HealthWord>(words).map(([word, { tone }]) => [word.replace("-", ""), tone] as const),
    ),
  ),
  ...tonesOf("good", ["ready", "succeeded", "created", "updated", "yes", "met", "true"]),
  ...tonesOf("bad", ["unreachable", "permanent", "no", "violated"]),
};

function tonesOf(tone: HealthWord["tone"], words: readonly string[]): Readonly<Record<string, HealthWord["tone"]>> {
  return Object.fromEntries(words.map((word) => [word, tone]));
}

/** Colours a state: green for good, red for bad, yellow for all others. */
export function stateText(word: string, colours: Colours): string {
  const state = word.toLowerCase();
  const tone = Object.hasOwn(TONES, state) ? TONES[state] : "moving";
  if (tone === "good") return colours.good(word);
  return tone === "bad" ? colours.bad(word) : colours.warn(word);
}
