import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Selection } from "./select.ts";

/** The choice of a template as the class's status keeps it, with every score and what it was made of. */
export function templateChoice({ template, basis, table }: Selection): NonNullable<ClassRuntimeStatus["template"]> {
  return {
    name: template.id,
    basis,
    ...(template.revision === undefined ? {} : { revision: template.revision }),
    scores: table.map(({ name, eligible, score, because }) => ({
      name,
      score,
      because: eligible ? because.join(", ") : `cannot serve: ${because.join(", ")}`,
    })),
  };
}
