import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { err, ok, pathOf, ROOT_PATH, type Result } from "@oaas/foundation";
import { selectAddons } from "../addons.ts";
import type { Refusal } from "../template.ts";
import { needsScaleToZero, refuseZeroScale } from "./zero-scale.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template } from "../template.ts";

/** Score of one template. */
export interface ScoreRow {
  readonly name: string;
  readonly eligible: boolean;
  readonly score: number;
  readonly because: readonly string[];
}

/**
 * Why the template was selected: named by the class, hinted by the class, named by its environment, or highest score.
 */
export type Basis = "explicit" | "hint" | "environment" | "score";

/** The selected template with the scores of all templates. */
export interface Selection {
  readonly template: Template;
  readonly basis: Basis;
  /** Whether the class names it. */
  readonly explicit: boolean;
  readonly table: readonly ScoreRow[];
}

/**
 * Selects the template of a class: the one it names, else the one it hints if that is eligible, else the one that its
 * environment names, else the highest score. Unknown names are rejected. The order of `templates` decides between equal
 * scores and equal names.
 */
export function selectTemplate(input: RenderInput, templates: readonly Template[]): Result<Selection, Refusal> {
  const addons = selectAddons(input);
  if (!addons.ok) return addons;

  const table = templates.map((template) => zeroRow(input, template));
  const context: SelectionContext = { input, templates, table };
  const { spec, environment } = input;
  if (spec.selected_template !== undefined) return byName(context, spec.selected_template, "explicit");
  const hinted = spec.template_hint === undefined ? undefined : findTemplate(spec.template_hint, templates);
  if (hinted !== undefined && zeroRow(input, hinted).eligible) return ok(selection(context, hinted, "hint"));
  const environmentDefault = environment?.spec.default_template;
  if (environmentDefault !== undefined) return byName(context, environmentDefault, "environment");
  return byScore(context);
}

interface SelectionContext {
  readonly input: RenderInput;
  readonly templates: readonly Template[];
  readonly table: readonly ScoreRow[];
}

function selection({ table }: SelectionContext, template: Template, basis: Basis): Selection {
  return { template, basis, explicit: basis === "explicit", table };
}

function byName(
  context: SelectionContext,
  name: string,
  basis: "explicit" | "environment",
): Result<Selection, Refusal> {
  const { input, templates } = context;
  const field = basis === "explicit" ? "selected_template" : "target_environment";
  const whose = basis === "explicit" ? "template" : `environment ${input.environment?.name} names template`;
  const template = findTemplate(name, templates);
  if (template === undefined) return err(refusal("missing", context, `${whose} "${name}" does not exist`, field));
  const { eligible, because } = scoreRow(input, template);
  if (eligible) return ok(selection(context, template, basis));
  const message = `${whose} "${name}" cannot run the class in this cluster: ${because.join("; ")}`;
  return err(refusal("not-eligible", context, message, field));
}

function byScore(context: SelectionContext): Result<Selection, Refusal> {
  const { input, templates, table } = context;
  let best: { readonly template: Template; readonly score: number } | undefined;
  for (const [index, template] of templates.entries()) {
    const row = table[index];
    if (row === undefined || !row.eligible || template.byNameOnly) continue;
    if (best === undefined || row.score > best.score) best = { template, score: row.score };
  }
  if (best !== undefined) return ok(selection(context, best.template, "score"));
  if (needsScaleToZero(input)) return err(refuseZeroScale(input, templates));
  return err(refusal("not-eligible", context, "no template can run the class in this cluster", "selected_template"));
}

/** Finds a template by name or alias, case-insensitive. */
export function findTemplate(name: string, templates: readonly Template[]): Template | undefined {
  const lowerCase = name.toLowerCase();
  return (
    templates.find(({ id }) => id.toLowerCase() === lowerCase) ??
    templates.find(({ aliases }) => aliases.some((alias) => alias.toLowerCase() === lowerCase))
  );
}

function scoreRow(input: RenderInput, template: Template): ScoreRow {
  return { name: template.id, ...template.score(input) };
}

/** Like `scoreRow`, but not eligible when a function must scale to zero and the template cannot do it. */
function zeroRow(input: RenderInput, template: Template): ScoreRow {
  const row = scoreRow(input, template);
  if (!row.eligible || !needsScaleToZero(input)) return row;
  const why = template.whyNotToZero(input.cluster);
  return why === undefined ? row : { ...row, eligible: false, because: [`cannot scale to zero: ${why}`] };
}

function refusal(kind: "missing" | "not-eligible", context: SelectionContext, what: string, field: string): Refusal {
  const known = context.templates
    .filter((_, index) => kind === "missing" || context.table[index]?.eligible === true)
    .flatMap(({ id, aliases }) => [id, ...aliases]);
  return {
    kind,
    message: `${what}; known templates: ${known.join(", ")}`,
    known,
    violations: [{ path: pathOf(ROOT_PATH, field), message: what, fix: `use one of ${known.join(", ")}` }],
  };
}

type TemplateStatus = NonNullable<ClassRuntimeStatus["template"]>;

/** The selection in the format of the status, with all scores. `held` explains why the revision is not the newest. */
export function templateStatus(
  { template, basis, table }: Selection,
  held?: TemplateStatus["roll_out"],
): TemplateStatus {
  return {
    name: template.id,
    basis,
    ...(template.revision === undefined ? {} : { revision: template.revision }),
    ...(template.revision === undefined || held === undefined ? {} : { roll_out: held }),
    scores: table.map(({ name, eligible, score, because }) => ({
      name,
      score,
      because: eligible ? because.join(", ") : `not eligible: ${because.join(", ")}`,
    })),
  };
}
