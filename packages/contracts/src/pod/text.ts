import type { TextRule } from "@oaas/models";
import { z } from "zod";

/** A string with a domain rule: the violation carries the rule's message and fix, the schema its pattern. */
export function ruledText(rule: TextRule) {
  return z
    .string()
    .superRefine((value, context) => {
      const problem = rule.findProblem(value);
      if (problem) context.addIssue({ code: "custom", message: problem.message, params: { fix: problem.fix } });
    })
    .meta({
      minLength: 1,
      maxLength: rule.maxLength,
      ...(rule.pattern === undefined ? {} : { pattern: rule.pattern }),
    });
}

/** An integer of Kubernetes: 32 bits, not negative. */
export function wholeNumber(min: number, max = 2 ** 31 - 1) {
  return z.int().min(min).max(max);
}
