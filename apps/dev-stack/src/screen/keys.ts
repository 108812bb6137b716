/** A key press: a printable character, or the name of a special key. */
export type Key = "up" | "down" | "enter" | "escape" | "backspace" | "ctrl-c" | (string & {});

const ESCAPE = "\u001B";
const NAMES: Readonly<Record<string, Key>> = {
  [`${ESCAPE}[A`]: "up",
  [`${ESCAPE}OA`]: "up",
  [`${ESCAPE}[B`]: "down",
  [`${ESCAPE}OB`]: "down",
  [ESCAPE]: "escape",
  "\r": "enter",
  "\n": "enter",
  "\u007F": "backspace",
  "\b": "backspace",
  "\u0003": "ctrl-c",
};
const PIECES = new RegExp(`${ESCAPE}(?:\\[[\\d;]*[A-Za-z~]|O[A-Z])|[^]`, "gu");

/** Splits the input of a terminal in raw mode into keys. Unknown escape sequences are ignored. */
export function decodeKeys(input: string): readonly Key[] {
  return (input.match(PIECES) ?? []).flatMap((piece) => {
    const name = NAMES[piece];
    if (name !== undefined) return [name];
    return piece.startsWith(ESCAPE) || piece < " " ? [] : [piece];
  });
}
