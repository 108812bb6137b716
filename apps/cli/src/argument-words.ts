import { formatMessageForArgumentScannerError, text_en, type ApplicationText } from "@stricli/core";

const told = (what: string): string => `error: ${what}`;
const meant = (corrections: readonly string[]): string =>
  corrections.length === 0 ? "" : `; did you mean ${corrections.join(" or ").replaceAll("`", "")}?`;

/** What is said of a command line that cannot be understood: which word of it, and what could stand there. */
export const ARGUMENT_WORDS: ApplicationText = {
  ...text_en,
  noCommandRegisteredForInput: ({ input, corrections }) => told(`there is no command "${input}"${meant(corrections)}`),
  exceptionWhileParsingArguments: (thrown) =>
    told(
      formatMessageForArgumentScannerError(thrown as never, {
        FlagNotFoundError: ({ input, corrections }) =>
          `there is no flag --${input}${meant(corrections.map((each) => `--${each}`))}`,
        AliasNotFoundError: ({ input }) => `there is no flag -${input}`,
        ArgumentParseError: ({ externalFlagNameOrPlaceholder: name, input, exception }) =>
          `${name}: ${exception instanceof Error ? exception.message : `"${input}" cannot be read`}`,
        UnsatisfiedFlagError: ({ externalFlagName }) => `--${externalFlagName} needs a value`,
        UnsatisfiedPositionalError: ({ placeholder }) => `<${placeholder}> is missing`,
        UnexpectedPositionalError: ({ input }) => `"${input}" is one argument too many`,
      }),
    ),
};

/** Reads a count or a revision: a whole number from 1. */
export function counted(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 1) return number;
  throw new Error(`"${text}" is no whole number from 1 on`);
}

/** Reads a share of one; what was meant as per cent is told apart. */
export function shareOf(text: string): number {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  if (number >= 0 && number <= 1) return number;
  const hint = number > 1 && number <= 100 ? `: for ${text} % write ${number / 100}` : ", such as 0.999";
  throw new Error(`"${text}" is no share between 0 and 1${hint}`);
}

/** Reads one of a few words, however its letters are written. */
export function oneOf(...known: readonly string[]): (text: string) => string {
  return (text) => {
    const word = known.find((each) => each.toLowerCase() === text.toLowerCase());
    if (word !== undefined) return word;
    throw new Error(`"${text}" is not known; use one of ${known.join(", ")}`);
  };
}

/** Reads what must not be empty, such as a name. */
export function named(text: string): string {
  if (text.trim() !== "") return text;
  throw new Error("it is empty; give it a name");
}
