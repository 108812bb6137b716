import type { ClassRuntimeSpec, ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { TemplateExplanation } from "./explanation.ts";

/** Why the template was selected; undefined before the selection. */
export function explainTemplate(
  choice: ClassRuntimeStatus["template"],
  requested: Pick<ClassRuntimeSpec, "selected_template" | "template_hint"> = {},
): TemplateExplanation | undefined {
  if (choice === undefined) return undefined;
  const candidates = [...(choice.scores ?? [])]
    .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
    .map(({ name, score, because }) => ({ name, score, ...(because === undefined ? {} : { because }) }));
  const { selected_template: selected, template_hint: hint } = requested;
  const rule = choice.basis;
  const requestedName = selected ?? hint;
  return {
    chosen: choice.name,
    rule,
    ...(requestedName === undefined ? {} : { requested: requestedName }),
    candidates,
    wouldChange: wouldChange(rule, choice.name, candidates),
  };
}

function wouldChange(
  rule: TemplateExplanation["rule"],
  chosen: string,
  candidates: TemplateExplanation["candidates"],
): string {
  if (rule === "explicit") return "Set another selected_template, or remove it to select by score.";
  if (rule === "environment")
    return "Set selected_template or template_hint, or change default_template of the environment.";
  if (rule === "hint") return "Set selected_template or another template_hint, or remove the hint to select by score.";
  const own = candidates.find(({ name }) => name === chosen);
  const next = candidates.find(({ name }) => name !== chosen);
  if (own === undefined || next === undefined) return "Set selected_template or template_hint.";
  return `Set selected_template or template_hint; ${next.name} needs ${own.score - next.score} more points.`;
}
