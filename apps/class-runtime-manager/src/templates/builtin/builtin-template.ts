import { TEMPLATES, type BuiltinTemplate } from "@oaas/models";
import type { Policy } from "../../rendering/plan/policy.ts";
import { renderClass } from "../render-class.ts";
import type { RenderInput } from "../../rendering/model/render-input.ts";
import type { Template, TemplateScore } from "../template.ts";
import type { WorkloadRenderer } from "../../rendering/workloads/workload.ts";

interface Definition {
  readonly policy: Policy & { readonly id: BuiltinTemplate };
  readonly workload: WorkloadRenderer;
  readonly score: (input: RenderInput) => TemplateScore;
  readonly byNameOnly?: boolean;
}

/** Creates a built-in template from a policy and a kind of workload; its aliases are in `@oaas/models`. */
export function builtinTemplate({ policy, workload, score, byNameOnly = false }: Definition): Template {
  return {
    id: policy.id,
    aliases: TEMPLATES[policy.id],
    byNameOnly,
    score,
    whyNotToZero: (cluster) => workload.whyNotToZero(cluster),
    render: (input) => renderClass(input, policy, workload),
  };
}
