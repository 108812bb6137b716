import { REASONS } from "../../../apps/class-runtime-manager/src/lifecycle/observation/reasons.ts";
import type { Generator } from "../generator.ts";

const EFFECTS = { fault: "degraded", wait: "progressing", calm: "healthy" } as const;

/** The reference page of all reasons of a class, by rank. */
export const generator: Generator = {
  name: "reasons",
  produce: async () => new Map([["docs/reference/reasons.md", page()]]),
};

function page(): string {
  const rows = Object.entries(REASONS).map(([reason, { effect, verdict, action }]) => {
    const stays = effect === "calm" ? "" : verdict;
    return `| <a id="${reason.toLowerCase()}"></a>\`${reason}\` | ${EFFECTS[effect]} | ${stays} | ${action || "–"} |`;
  });
  return [
    "# Reasons",
    "",
    "Generated from `apps/class-runtime-manager/src/lifecycle/observation/reasons.ts`. Do not edit.",
    "",
    "The reasons in `status.reason`, conditions, functions and events of a class, with suggested actions. When several apply, the",
    "first in this table is reported, because it is closest to the cause. *Transient* reasons are expected to resolve by",
    "themselves; *permanent* reasons need action. The message beside the reason has the details (the pod, the image, the field,",
    "the permission); `ExplainClassRuntime` returns the complete chain down to the pod's events.",
    "",
    "| Reason | Class is | Verdict | Suggested action |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
