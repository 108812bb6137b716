import { err, ok, pathOf, ROOT_PATH, violationsUnder, type Result, type Violation } from "@oaas/foundation";
import { evaluate, OMITTED, parseText, type Placeholder, type Scope } from "./language.ts";

/** Limits of a manifest and of all values that a template renders for one class. */
const MAX_DEPTH = 48;
const MAX_VALUES = 50_000;

/** Text without placeholders, and the members that lead to it. */
export interface PlainText {
  readonly path: string;
  readonly members: readonly string[];
  readonly text: string;
}

/** All placeholders of a manifest, the texts between them, and all syntax violations. */
export function placeholdersIn(manifest: unknown): {
  readonly found: readonly { readonly path: string; readonly placeholder: Placeholder }[];
  readonly texts: readonly PlainText[];
  readonly violations: readonly Violation[];
} {
  const found: { path: string; placeholder: Placeholder }[] = [];
  const texts: PlainText[] = [];
  const violations: Violation[] = [];
  visit(manifest, ROOT_PATH, []);
  return { found, texts, violations };

  function visit(value: unknown, path: string, members: readonly string[]): void {
    if (members.length > MAX_DEPTH) {
      violations.push({ path, message: `the manifest is deeper than ${MAX_DEPTH} levels` });
      return;
    }
    if (typeof value === "string") {
      const pieces = parseText(value);
      if (!pieces.ok) violations.push({ ...pieces.error, path });
      for (const piece of pieces.ok ? pieces.value : []) {
        if (typeof piece === "object") found.push({ path, placeholder: piece });
        else texts.push({ path, members, text: piece });
      }
      return;
    }
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const at = pathOf(path, Array.isArray(value) ? Number(name) : name);
      if (name.includes("{{")) violations.push({ path: at, message: "placeholders are not allowed in field names" });
      visit(member, at, [...members, name]);
    }
  }
}

/** Limits the number of rendered values, and so the memory of a template. */
export class Budget {
  #left = MAX_VALUES;

  /** Whether another value is allowed. */
  spend(): boolean {
    this.#left -= 1;
    return this.#left >= 0;
  }
}

/** Fills in the placeholders of a manifest, or returns all that have no value. */
export function fill(manifest: unknown, scope: Scope, budget: Budget): Result<unknown, readonly Violation[]> {
  if (!budget.spend()) {
    return err([{ path: ROOT_PATH, message: `the template renders more than ${MAX_VALUES} values` }]);
  }
  if (typeof manifest === "string") {
    const pieces = parseText(manifest);
    const value = pieces.ok ? evaluate(pieces.value, scope) : pieces;
    return value.ok ? value : err([value.error]);
  }
  if (typeof manifest !== "object" || manifest === null) return ok(manifest);
  const violations: Violation[] = [];
  const isList = Array.isArray(manifest);
  const members = Object.entries(manifest).flatMap(([name, member]): [string, unknown][] => {
    const filled = fill(member, scope, budget);
    if (filled.ok) return filled.value === OMITTED ? [] : [[name, filled.value]];
    if (violations.length < 20) {
      violations.push(...violationsUnder(pathOf(ROOT_PATH, isList ? Number(name) : name), filled.error));
    }
    return [];
  });
  if (violations.length > 0) return err(violations);
  return ok(isList ? members.map(([, member]) => member) : Object.fromEntries(members));
}
