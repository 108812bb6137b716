import type { ClassFunction } from "@oaas/contracts/crd";
import { pathOf, ROOT_PATH, violationText, type Violation } from "@oaas/foundation";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Rendered } from "../../rendering/model/rendered.ts";
import { runtimeOf } from "../../rendering/plan/class-plan.ts";
import { isScaledToZero } from "../../rendering/plan/scale.ts";
import type { Refusal, Template } from "../template.ts";

/** Whether a function of the class must be able to run without a replica. */
export function needsScaleToZero({ spec }: RenderInput): boolean {
  return (spec.functions ?? []).some(mustReachZero);
}

function mustReachZero(fn: ClassFunction): boolean {
  return runtimeOf(fn) === "workload" && isScaledToZero(fn);
}

/** The ids of the templates that can scale functions to zero in the cluster. */
export function zeroScaleTemplates(
  templates: readonly Template[],
  cluster: RenderInput["cluster"],
): readonly Template["id"][] {
  return templates.filter((template) => template.whyNotToZero(cluster) === undefined).map(({ id }) => id);
}

/** A violation for each function that states `min_scale: 0`, when the template cannot scale it to zero. */
export function zeroScaleViolations(
  input: RenderInput,
  template: Template,
  templates: readonly Template[],
): readonly Violation[] {
  const why = template.whyNotToZero(input.cluster);
  return why === undefined
    ? []
    : refuseZero(input, `template ${template.id} cannot scale it to zero: ${why}`, templates);
}

/** A violation for each function that keeps a replica although it states `min_scale: 0`. */
export function keptReplicaViolations(
  input: RenderInput,
  { template, functions }: Rendered,
  templates: readonly Template[],
): readonly Violation[] {
  const kept = new Map(functions.map(({ functionKey, replicas }) => [functionKey, replicas ?? 1]));
  return refuseZero(input, `template ${template} keeps at least one replica`, templates, ({ function_key: key }) =>
    Boolean(kept.get(key)),
  );
}

/** The refusal of a class that no template can scale to zero. */
export function refuseZeroScale(input: RenderInput, templates: readonly Template[]): Refusal {
  return refuseInvalid(refuseZero(input, "no template that may be chosen can scale it to zero", templates));
}

/** The refusal of a class whose spec has violations. */
export function refuseInvalid(violations: readonly Violation[]): Refusal {
  return { kind: "invalid", message: violations.map(violationText).join("; "), known: [], violations };
}

function refuseZero(
  input: RenderInput,
  message: string,
  templates: readonly Template[],
  when: (fn: ClassFunction) => boolean = () => true,
): readonly Violation[] {
  const able = zeroScaleTemplates(templates, input.cluster);
  const instead =
    able.length > 0
      ? `use template ${able.join(" or ")}`
      : "install Knative Serving, or KEDA and a DeploymentTemplate whose ScaledObject starts the first replica";
  return (input.spec.functions ?? []).flatMap((fn, index) =>
    mustReachZero(fn) && when(fn)
      ? [
          {
            path: pathOf(ROOT_PATH, "functions", index, "provision_config", "min_scale"),
            message: `min_scale is 0, but ${message}`,
            fix: `${instead}, or set min_scale to 1`,
          },
        ]
      : [],
  );
}
