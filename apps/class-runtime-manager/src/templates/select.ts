import { err, ok, pathOf, ROOT_PATH, type Result } from "@oaas/foundation";
import { addonsOf } from "./addons.ts";
import type { Refusal } from "./refusal.ts";
import type { RenderInput, Template } from "./template.ts";

/** One template that was looked at, and what became of it. */
export interface ScoreRow {
  readonly name: string;
  readonly eligible: boolean;
  readonly score: number;
  readonly because: readonly string[];
}

/** What the choice rests on: the class named it, hinted at it, its environment named it, or it scored highest. */
export type Basis = "explicit" | "hint" | "environment" | "score";

/** The template of a class, and why this one. */
export interface Selection {
  readonly template: Template;
  readonly basis: Basis;
  /** Whether the class itself named it. */
  readonly explicit: boolean;
  readonly table: readonly ScoreRow[];
}

/**
 * Chooses the template of a class: the one it names, else the one it hints at if that can serve it here, else the one
 * its environment names, else the highest score. A name that nobody bears is refused, never replaced. The order of
 * `templates` decides between equal scores and equal names.
 */
export function selectTemplate(input: RenderInput, templates: readonly Template[]): Result<Selection, Refusal> {
  const addons = addonsOf(input);
  if (!addons.ok) return addons;

  const rows = templates.map((template) => ({ template, row: rowOf(input, template) }));
  const table = rows.map(({ row }) => row);
  const chosen = (template: Template, basis: Basis): Result<Selection, Refusal> =>
    ok({ template, basis, explicit: basis === "explicit", table });
  const { spec, environment } = input;

  if (spec.selected_template !== undefined) {
    return named(spec.selected_template, "explicit", "selected_template");
  }
  const hinted = spec.template_hint === undefined ? undefined : findTemplate(spec.template_hint, templates);
  if (hinted !== undefined && rowOf(input, hinted).eligible) return chosen(hinted, "hint");
  if (environment?.spec.default_template !== undefined) {
    return named(environment.spec.default_template, "environment", "target_environment");
  }
  const best = rows
    .filter(({ template, row }) => row.eligible && !template.byNameOnly)
    .reduce<(typeof rows)[number] | undefined>(
      (winner, next) => (winner === undefined || next.row.score > winner.row.score ? next : winner),
      undefined,
    );
  return best === undefined
    ? err(refusal("not-eligible", input, templates, "no template can serve the class here"))
    : chosen(best.template, "score");

  function named(name: string, basis: Basis, field: string): Result<Selection, Refusal> {
    const template = findTemplate(name, templates);
    const whose = basis === "environment" ? `environment ${environment?.name} names template` : "template";
    if (template === undefined) {
      return err(refusal("missing", input, templates, `${whose} "${name}" does not exist`, field));
    }
    const { eligible, because } = rowOf(input, template);
    return eligible
      ? chosen(template, basis)
      : err(
          refusal(
            "not-eligible",
            input,
            templates,
            `${whose} "${name}" cannot serve the class here: ${because.join("; ")}`,
            field,
          ),
        );
  }
}

/** The template that bears this name or alias, whatever its case. */
export function findTemplate(name: string, templates: readonly Template[]): Template | undefined {
  const wanted = name.toLowerCase();
  return (
    templates.find(({ id }) => id.toLowerCase() === wanted) ??
    templates.find(({ aliases }) => aliases.some((alias) => alias.toLowerCase() === wanted))
  );
}

function rowOf(input: RenderInput, template: Template): ScoreRow {
  return { name: template.id, ...template.score(input) };
}

function refusal(
  kind: "missing" | "not-eligible",
  input: RenderInput,
  templates: readonly Template[],
  what: string,
  field = "selected_template",
): Refusal {
  const known = templates
    .filter((template) => kind === "missing" || rowOf(input, template).eligible)
    .flatMap(({ id, aliases }) => [id, ...aliases]);
  const list = `known templates: ${known.join(", ")}`;
  return {
    kind,
    message: `${what}; ${list}`,
    known,
    violations: [{ path: pathOf(ROOT_PATH, field), message: what, fix: `use one of ${known.join(", ")}` }],
  };
}
