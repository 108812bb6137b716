import { err, ok, violationText, type Result } from "@oaas/foundation";
import type { Refusal } from "../template.ts";
import { selectTemplate, type Selection } from "./select.ts";
import type { Rendered } from "../../rendering/model/rendered.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template } from "../template.ts";

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
  const rendered = selection.value.template.render(input);
  if (rendered.ok) return ok({ selection: selection.value, rendered: rendered.value });
  return err({
    kind: "invalid",
    message: rendered.error.map(violationText).join("; "),
    known: [],
    violations: rendered.error,
  });
}
