import { ROOT_PATH } from "@oaas/foundation";
import { stringify } from "yaml";
import type { Colours } from "../output/colours.ts";
import type { Change } from "./changes.ts";

/** Changes as lines: what goes in red, what comes in green. */
export function changesText(changes: readonly Change[], colours: Colours): string {
  const shown = (value: unknown): string => JSON.stringify(value);
  return changes
    .flatMap(({ path, before, after }) => {
      // A whole document reads better as what it will be.
      if (path === ROOT_PATH && before === undefined)
        return stringify(after)
          .trimEnd()
          .split("\n")
          .map((line) => colours.good(`+ ${line}`));
      return [
        ...(before === undefined ? [] : [colours.bad(`- ${path}: ${shown(before)}`)]),
        ...(after === undefined ? [] : [colours.good(`+ ${path}: ${shown(after)}`)]),
      ];
    })
    .map((line) => `  ${line}\n`)
    .join("");
}
