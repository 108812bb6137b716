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
