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
  holds(value: T): boolean;
}

/** Adds rules to a schema: checked by `parse`, and written to the CRD as `x-kubernetes-validations`. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: readonly Rule<z.output<S>>[]): S {
  const checked = schema.superRefine((value, context) => {
    for (const rule of rules) {
      if (rule.holds(value)) continue;
      context.addIssue({ code: "custom", message: rule.message, path: rule.at === undefined ? [] : [rule.at] });
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
