import type { Violation } from "@oaas/foundation";
import { isKnownPath, similarPaths, PATHS } from "./scope.ts";
import type { PlainText } from "./walk.ts";

const FOREIGN = /\$\{([^{}]*)\}/g;

const ROOTS: ReadonlySet<string> = new Set(Object.keys(PATHS).map((path) => path.split(".")[0] ?? path));

/** Fields that hold names, and maps of labels: they never contain a dollar sign. */
const NAMES: ReadonlySet<string> = new Set(["name", "image", "serviceName", "serviceAccountName", "claimName"]);
const LABELS: ReadonlySet<string> = new Set(["labels", "matchLabels", "selector"]);

/**
 * Finds placeholders of other languages, such as `${function.name}`, that would be sent unchanged. Reports only those
 * that refer to our placeholders or are in the place of a name; `${HOME}` in a shell command is allowed.
 */
export function foreignPlaceholders({ path, members, text }: PlainText): readonly Violation[] {
  const isName = NAMES.has(members.at(-1) ?? "") || members.some((member) => LABELS.has(member));
  return [...text.matchAll(FOREIGN)]
    .map(([written, between = ""]) => ({ written, inner: between.trim() }))
    .filter(({ inner }) => !/\s/.test(inner))
    .filter(({ inner }) => isName || (inner.includes(".") && ROOTS.has(inner.split(".")[0] ?? "")))
    .map(({ written, inner }) => ({
      path,
      message: `${written} is not a placeholder and would be sent unchanged`,
      fix: `${suggestPlaceholder(inner)}${isName ? "" : `, or {{ "${written}" }} to pass it to the program`}`,
    }));
}

function suggestPlaceholder(inner: string): string {
  const path = inner.split(".");
  return isKnownPath(path) ? `write {{ ${inner} }}` : `write {{ path }} with one of ${similarPaths(path).join(", ")}`;
}
