import { formatMessageForArgumentScannerError, text_en, type ApplicationText } from "@stricli/core";
import { UsageError } from "../exit-code.ts";

const formatError = (what: string): string => `error: ${what}`;
const suggestion = (corrections: readonly string[]): string =>
  corrections.length === 0 ? "" : `; did you mean ${corrections.join(" or ")}?`;

/** Commands that delete or stop something, with their aliases. A typo must never lead to one of them. */
const DESTRUCTIVE = new Set(["cancel", "d", "delete", "down", "r", "remove", "reset", "rm", "rollback", "undo"]);

/** The nearest commands, quoted by Stricli with backticks, without destructive ones. */
function safeCommands(corrections: readonly string[]): readonly string[] {
  return corrections.map((each) => each.replaceAll("`", "")).filter((name) => !DESTRUCTIVE.has(name));
}

/** Error messages for invalid arguments: the rejected word and the nearest valid one. */
export const ARGUMENT_MESSAGES: ApplicationText = {
  ...text_en,
  noCommandRegisteredForInput: ({ input, corrections }) =>
    formatError(`unknown command "${input}"${suggestion(safeCommands(corrections))}`),
  exceptionWhileParsingArguments: (thrown) =>
    formatError(
      formatMessageForArgumentScannerError(thrown as never, {
        FlagNotFoundError: ({ input, corrections }) =>
          `unknown flag --${input}${suggestion(corrections.map((each) => `--${each}`))}`,
        AliasNotFoundError: ({ input }) => `unknown flag -${input}`,
        ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, input, exception }) =>
          `${name}: ${parseErrorText(exception) ?? `invalid value "${input}"`}`,
        UnsatisfiedFlagError: ({ externalFlagName }) => `--${externalFlagName} is required`,
        UnsatisfiedPositionalError: ({ placeholder }) => `<${placeholder}> is missing`,
        UnexpectedPositionalError: ({ input }) => `unexpected argument "${input}"`,
      }),
    ),
};

function parseErrorText(thrown: unknown): string | undefined {
  if (thrown instanceof UsageError && thrown.fix !== undefined) return `${thrown.message}; ${thrown.fix}`;
  return thrown instanceof Error ? thrown.message : undefined;
}

/** Parses a count or a revision: an integer of at least 1. */
export function parsePositiveInteger(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`"${text}" is not a positive integer`);
}

/** Parses a revision; 0 is the previous one, as for kubectl. */
export function parseRevisionOrPrevious(text: string): number {
  return text === "0" ? 0 : parsePositiveInteger(text);
}

/** Parses a number of lines or a partition: an integer of at least 0. */
export function parseCount(text: string): number {
  return text === "0" ? 0 : parsePositiveInteger(text);
}

/** Parses a fraction between 0 and 1; the error for a percentage suggests the fraction. */
export function parseFraction(text: string): number {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (number >= 0 && number <= 1) return number;
  const percent = Number.parseFloat(text);
  const isPercentage = /^\d+(?:\.\d+)?\s*%?$/.test(text.trim()) && percent <= 100;
  // Rounded: 99.9 / 100 is 0.9990000000000001.
  const hint = isPercentage ? `: for ${percent} % write ${Number((percent / 100).toPrecision(12))}` : ", such as 0.999";
  throw new Error(`"${text}" is not a fraction between 0 and 1${hint}`);
}

/** Parses a number of at least 0, such as a price. */
export function parseDecimal(text: string): number {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new Error(`"${text}" is not a number of at least 0, such as 0.04`);
}

/** Parses one of a set of values, ignoring case. */
export function parseChoice(...values: readonly string[]): (text: string) => string {
  return (text) => {
    const word = values.find((each) => each.toLowerCase() === text.toLowerCase());
    if (word !== undefined) return word;
    throw new Error(`unknown value "${text}"; use one of ${values.join(", ")}`);
  };
}

/** Parses a value that must not be empty, such as a name. */
export function parseNonEmpty(text: string): string {
  if (text.trim() !== "") return text;
  throw new Error("must not be empty");
}

/** Parses `90s`, `5m`, `2h` or a plain number of seconds. */
export function parseDuration(text: string): number {
  const { count = "", unit = "s" } = /^(?<count>\d+)(?<unit>ms|s|m|h)?$/.exec(text)?.groups ?? {};
  const size = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[unit];
  if (count === "" || size === undefined) throw new Error(`"${text}" is not a duration, such as 90s, 5m or 2h`);
  return Number(count) * size;
}
