import { err, ok, type Result } from "@oaas/foundation";
import type { Refusal } from "../template.ts";
import { selectTemplate, type Selection } from "./select.ts";
import type { Rendered } from "../../rendering/model/rendered.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template } from "../template.ts";
import { keptReplicaViolations, refuseInvalid, zeroScaleViolations } from "./zero-scale.ts";

/** The selected template and the rendered class. */
export interface SelectedAndRendered {
  readonly selection: Selection;
  readonly rendered: Rendered;
}

/** Selects a template and renders the class; any failure is returned as a refusal. */
export function chooseAndRender(
  input: RenderInput,
  templates: readonly Template[],
): Result<SelectedAndRendered, Refusal> {
  const selection = selectTemplate(input, templates);
  if (!selection.ok) return selection;
  const { template } = selection.value;
  const rendered = template.render(input);
  const zero = zeroScaleViolations(input, template, templates);
  if (!rendered.ok) return err(refuseInvalid([...rendered.error, ...zero]));
  const kept = zero.length > 0 ? zero : keptReplicaViolations(input, rendered.value, templates);
  return kept.length > 0 ? err(refuseInvalid(kept)) : ok({ selection: selection.value, rendered: rendered.value });
}
