import { err, ok, violationText, type Result } from "@oaas/foundation";
import type { Refusal } from "../refusal.ts";
import { selectTemplate, type Selection } from "./select.ts";
import type { Rendered, RenderInput, Template } from "../../rendering/model/rendered.ts";

/** A class's template and what it makes of the class. */
export interface Chosen {
  readonly selection: Selection;
  readonly rendered: Rendered;
}

/** Chooses a template and renders with it; everything that can stand in the way comes back as one refusal. */
export function chooseAndRender(input: RenderInput, templates: readonly Template[]): Result<Chosen, Refusal> {
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
