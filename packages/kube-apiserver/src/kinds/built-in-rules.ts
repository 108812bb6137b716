import type { KindRules } from "./kind.ts";
import type { ResourceData } from "./kind-data.ts";
import { goDecoded } from "./go/go-decode.ts";
import { rulesOf } from "./rules-of.ts";

/** What only code can say of a built-in kind. */
export function builtInRules({ schema }: ResourceData): KindRules {
  return rulesOf({
    isValidatedBySchema: false,
    decoded: (object) => goDecoded(object, schema),
  });
}
