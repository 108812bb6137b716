import { ROOT_PATH } from "@oaas/foundation";
import { stringify } from "yaml";
import type { Colours } from "../output/colours.ts";
import type { Change } from "./changes.ts";

/** Formats changes as lines: removed values in red, added values in green. */
export function changesText(changes: readonly Change[], colours: Colours): string {
  const format = (value: unknown): string => JSON.stringify(value);
  return changes
    .flatMap(({ path, before, after }) => {
      // Show a new document as a whole.
      if (path === ROOT_PATH && before === undefined)
        return stringify(after)
          .trimEnd()
          .split("\n")
          .map((line) => colours.good(`+ ${line}`));
      return [
        ...(before === undefined ? [] : [colours.bad(`- ${path}: ${format(before)}`)]),
        ...(after === undefined ? [] : [colours.good(`+ ${path}: ${format(after)}`)]),
      ];
    })
    .map((line) => `  ${line}\n`)
    .join("");
}

/** A change of what runs. */
interface ResolvedChange {
  readonly path: string;
  readonly text: string;
  readonly effect?: string | undefined;
}

/** Formats the changes of what runs: those of the state store first, each with what restarts and which data moves. */
export function resolvedChangesText(changes: readonly ResolvedChange[], colours: Colours): string {
  const format = ({ text, effect }: ResolvedChange): string =>
    `  ${text}${effect === undefined ? "" : colours.warn(` (${effect})`)}\n`;
  const ofStore = changes.filter(({ path }) => isOfStore(path));
  const others = changes.filter(({ path }) => !isOfStore(path));
  return [
    ...(ofStore.length === 0 ? [] : [`${colours.bold("State store:")}\n`, ...ofStore.map(format)]),
    ...(others.length === 0 ? [] : [`${colours.bold("Running units:")}\n`, ...others.map(format)]),
  ].join("");
}

function isOfStore(path: string): boolean {
  return path === `${ROOT_PATH}.odgm` || path.startsWith(`${ROOT_PATH}.odgm.`);
}
