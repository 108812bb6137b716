const ESCAPE = String.fromCodePoint(0x1b);
const PIECES = new RegExp(`${ESCAPE}\\[(?<args>[\\d;?]*)(?<command>[A-Za-z])|(?<character>[\\s\\S])`, "gu");

/** Colour names in recorded screens. */
const COLOURS: Readonly<Record<string, string>> = { 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow" };

/**
 * Renders raw output to the final screen, with colours as `‹red›…‹/›`. Supports the escape sequences that the CLI uses:
 * line breaks, carriage return, cursor up and column, and clear.
 */
export function screenText(raw: string): string {
  const lines: string[][] = [[]];
  let [row, column, colour] = [0, 0, ""];
  for (const { groups } of raw.matchAll(PIECES)) {
    const { args = "", command, character } = groups ?? {};
    if (command === "m") colour = COLOURS[args] ?? "";
    else if (command === "A") row = Math.max(0, row - Number(args || 1));
    else if (command === "G") column = Number(args || 1) - 1;
    else if (command === "J") {
      lines[row]?.splice(column);
      lines.splice(row + 1);
    } else if (command === "K") lines[row]?.splice(column);
    else if (character === "\r") column = 0;
    else if (character === "\n") [row, column] = [row + 1, 0];
    else if (character !== undefined) {
      const line = (lines[row] ??= []);
      while (line.length < column) line.push(" ");
      line[column] = colour === "" ? character : `‹${colour}›${character}‹/›`;
      column += 1;
    }
    lines[row] ??= [];
  }
  const text = lines.map((line) => line.join("").trimEnd()).join("\n");
  return `${mergeColours(text).trimEnd()}\n`;
}

/** Merges adjacent characters of the same colour. */
function mergeColours(text: string): string {
  return Object.values(COLOURS).reduce((all, name) => all.replaceAll(`‹/›‹${name}›`, ""), text);
}

/** Patterns that differ between runs, with their placeholders. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<request>"],
  [/digest: [0-9a-f-]+/g, "digest: <digest>"],
  [/\.[0-9a-f]{16}\b/g, ".<event>"],
  [/-[0-9a-f]{12}\b/g, "-<unit>"],
  [/-(?:[0-9a-f]{8,10})-[a-z0-9]{5}\b/g, "-<pod>"],
  [/read \d+ s ago/g, "read <n> s ago"],
  [/waited \d+ s/g, "waited <n> s"],
  [/reached \d+[smhd] ago/g, "reached <n>s ago"],
  // Enforcement changes the replicas of an example.
  [/(?<=function [^\n]* {2})\d+\/\d+$/gm, "<ready>/<desired>"],
  [/127\.0\.0\.1:\d{2,5}/g, "127.0.0.1:<port>"],
];

/** Replaces everything that differs between runs with a placeholder. */
export function replaceVarying(screen: string, places: Readonly<Record<string, string>> = {}): string {
  const placed = Object.entries(places).reduce((text, [name, place]) => text.replaceAll(place, `<${name}>`), screen);
  return VARYING.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), placed);
}
