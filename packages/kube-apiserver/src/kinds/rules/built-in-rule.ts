import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { KindRules } from "../kind.ts";
import { isSet, member, objectAt } from "../json-access.ts";
import { forbidden, IMMUTABLE, invalid, NONE, type Errors } from "../validation/field-errors.ts";
import type { NameRule } from "../validation/names.ts";

/**
 * The code rules of one built-in kind, besides the common ones. `errors` excludes metadata, which is common except for
 * the name.
 */
export interface BuiltInRule extends Partial<Omit<KindRules, "decoded" | "defaulted" | "isValidatedBySchema">> {
  readonly name?: NameRule;
  /** Whether a new object may include its status. */
  readonly keepsStatus?: boolean;
}

/** An immutable member. */
export function validateUnchanged(
  next: JsonObject,
  live: JsonObject,
  field: string,
  ...path: readonly string[]
): Errors {
  const holders = [next, live].map((object) => objectAt(object, ...path.slice(0, -1)));
  const [now, before] = holders.map((holder) => member(holder, path.at(-1) ?? ""));
  return equalJson(now ?? null, before ?? null) ? NONE : [invalid(field, now, IMMUTABLE)];
}

/** Members that are immutable once the object is marked immutable. */
export function validateFrozen(next: JsonObject, live: JsonObject, names: readonly string[]): Errors {
  if (!isSet(live, "immutable")) return NONE;
  const detail = "field is immutable when `immutable` is set";
  return [
    ...(isSet(next, "immutable") ? NONE : [forbidden("immutable", detail)]),
    ...names
      .filter((name) => !equalJson(member(next, name) ?? null, member(live, name) ?? null))
      .map((name) => forbidden(name, detail)),
  ];
}
