import { create } from "@bufbuild/protobuf";
import {
  ExplainClassRuntimeResponseSchema,
  FindingLevel,
  FindingSchema,
  TemplateChoiceRule,
  Verdict,
  type ExplainClassRuntimeResponse,
  type Finding,
} from "@oaas/contracts/grpc";
import type {
  Explanation,
  ExplanationLevel,
  ExplanationPart,
  ExplanationVerdict,
  TemplateExplanation,
} from "./explanation.ts";

const VERDICTS = {
  healthy: Verdict.HEALTHY,
  transient: Verdict.TRANSIENT,
  permanent: Verdict.PERMANENT,
} as const satisfies Record<ExplanationVerdict, Verdict>;

const LEVELS = {
  class: FindingLevel.CLASS,
  function: FindingLevel.FUNCTION,
  odgm: FindingLevel.ODGM,
  workload: FindingLevel.WORKLOAD,
  pod: FindingLevel.POD,
  node: FindingLevel.NODE,
  event: FindingLevel.EVENT,
} as const satisfies Record<ExplanationLevel, FindingLevel>;

const RULES = {
  explicit: TemplateChoiceRule.EXPLICIT,
  hint: TemplateChoiceRule.HINT,
  environment: TemplateChoiceRule.ENVIRONMENT,
  score: TemplateChoiceRule.SCORE,
} as const satisfies Record<TemplateExplanation["rule"], TemplateChoiceRule>;

/** The response of ExplainClassRuntime. */
export function explanationToWire(explanation: Explanation): ExplainClassRuntimeResponse {
  const { deploymentId, summary, verdict, action, root, template, observedAt } = explanation;
  return create(ExplainClassRuntimeResponseSchema, {
    explanation: {
      deploymentId,
      summary,
      verdict: VERDICTS[verdict],
      suggestedAction: action,
      root: partToWire(root),
      ...(template === undefined ? {} : { templateChoice: templateToWire(template) }),
      observedAt,
    },
  });
}

function partToWire(part: ExplanationPart): Finding {
  const { level, name, resource, verdict, reason, message, action, since, count, causes } = part;
  return create(FindingSchema, {
    level: LEVELS[level],
    name,
    verdict: VERDICTS[verdict],
    reason,
    message,
    suggestedAction: action,
    causes: causes.map(partToWire),
    ...(resource === undefined
      ? {}
      : {
          resource: {
            kind: resource.kind,
            name: resource.name,
            ...(resource.namespace === undefined ? {} : { namespace: resource.namespace }),
            ...(resource.uid === undefined ? {} : { uid: resource.uid }),
          },
        }),
    ...(since === undefined ? {} : { since }),
    ...(count === undefined ? {} : { count }),
  });
}

function templateToWire({ chosen, rule, requested, candidates, wouldChange }: TemplateExplanation) {
  return {
    chosen,
    rule: RULES[rule],
    ...(requested === undefined ? {} : { requested }),
    candidates: candidates.map(({ name, score, because }) => ({
      template: name,
      score,
      eligible: true,
      reasons: because === undefined ? [] : [{ criterion: "score", points: score, message: because }],
    })),
    wouldChange,
  };
}
