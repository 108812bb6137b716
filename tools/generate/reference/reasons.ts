import { REASONS } from "../../../apps/class-runtime-manager/src/lifecycle/observation/reasons.ts";
import type { Generator } from "../generator.ts";

const EFFECTS = { fault: "degraded", wait: "on its way", calm: "well" } as const;

/** The reference page of every reason a class may give, in the order of rank. */
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
    "What `status.reason`, conditions, functions and events of a class say, and what to do. Where several hold, the one that stands first here is told, because",
    "it is nearest to the cause. *Transient* is expected to mend itself; *permanent* needs someone to change something. What was really seen (the pod, the image,",
    "the field, the right) is in the message beside the reason; `ExplainClassRuntime` gives the whole chain down to the pod's event.",
    "",
    "| Reason | Class is | Verdict | What to do |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
