import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Selection } from "./select.ts";

type TemplateStatus = NonNullable<ClassRuntimeStatus["template"]>;

/**
 * The choice of a template as the class's status keeps it, with every score and what it was made of. `held` says why its revision is not the
 * newest one.
 */
export function templateChoice(
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
      because: eligible ? because.join(", ") : `cannot serve: ${because.join(", ")}`,
    })),
  };
}
