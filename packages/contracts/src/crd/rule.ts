import type { z } from "zod";

/**
 * One rule over several fields, in CEL for the API server and in code for ours. The tests run the same invalid objects
 * through both.
 */
export interface Rule<T> {
  /** True for a valid object; `self` is the object the rule is attached to. */
  readonly cel: string;
  /** The violation and its fix, in one sentence. */
  readonly message: string;
  /** The field to report, if any. */
  readonly at?: string;
  /** The fix, for violations of our own services; the message alone must suffice for the API server. */
  readonly fix?: string;
  holds(value: T): boolean;
}

/** Adds rules to a schema: checked by `parse`, and written to the CRD as `x-kubernetes-validations`. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: readonly Rule<z.output<S>>[]): S {
  const checked = schema.superRefine((value, context) => {
    for (const rule of rules) {
      if (rule.holds(value)) continue;
      const { message, at, fix } = rule;
      context.addIssue({
        code: "custom",
        message,
        path: at === undefined ? [] : [at],
        ...(fix === undefined ? {} : { params: { fix } }),
      });
    }
  });
  return checked.meta({
    "x-kubernetes-validations": rules.map((rule) => ({
      rule: rule.cel,
      message: rule.message,
      ...(rule.at === undefined ? {} : { fieldPath: `.${rule.at}` }),
    })),
  });
}

/** Rejects a field and its alias set together, instead of silently preferring one. */
export function onlyOneOf<A extends string, B extends string>(
  preferred: A,
  other: B,
): Rule<{ readonly [K in A | B]?: unknown }> {
  return {
    cel: `!(has(self.${preferred}) && has(self.${other}))`,
    message: `${other} is an alias of ${preferred}: set only one of them`,
    at: other,
    holds: (value) => value[preferred] === undefined || value[other] === undefined,
  };
}

/** Requires exactly one of several members, such as the source of a volume. */
export function exactlyOneOf<const Names extends readonly string[]>(
  what: string,
  names: Names,
): Rule<{ readonly [Name in Names[number]]?: unknown }> {
  const list = names.join(", ");
  return {
    cel: `[${names.map((name) => `has(self.${name})`).join(", ")}].exists_one(given, given)`,
    message: `${what} must have exactly one of ${list}`,
    fix: `set one of ${list}, and no other`,
    holds: (value) => names.filter((name) => value[name as Names[number]] !== undefined).length === 1,
  };
}
