import type { z } from "zod";

/**
 * One rule over several fields, said twice: in CEL for the API server and in code for ours. They stand side by side so
 * that a reader can compare them, and the tests run the same wrong objects through both.
 */
export interface Rule<T> {
  /** True when the object is fine; `self` is the object the rule stands on. */
  readonly cel: string;
  /** What is wrong and how to put it right, in one sentence. */
  readonly message: string;
  /** The member to blame, when there is one. */
  readonly at?: string;
  holds(value: T): boolean;
}

/** Adds the rules to a schema: checked by `parse`, and written to the CRD as `x-kubernetes-validations`. */
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

/** Two members that name the same quantity may not both be given: silently preferring one would hide a mistake. */
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
