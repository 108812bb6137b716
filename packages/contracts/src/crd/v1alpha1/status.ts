import { LifecyclePhase } from "@oaas/models";
import { z } from "zod";
import { keyedList } from "../collections.ts";
import { enforcementState, nfrCompliance, nfrRecommendations, recommendation } from "./nfr.ts";
import { odgmClusterStatus } from "./odgm.ts";
import { count, moment, port, text } from "./scalars.ts";

const generation = z.int().min(0);

/** A Kubernetes condition. `reason` and `message` may be absent, as in objects the Rust manager wrote. */
export const condition = z.object({
  type: z
    .string()
    .min(1)
    .max(316)
    .describe(
      "Available, Progressing, Degraded, OdgmReady and TelemetryConfigured; other writers may add their own types.",
    ),
  status: z.enum(["True", "False", "Unknown"]).describe("Whether it holds."),
  reason: z.string().max(1024).optional().describe("One word for programs, e.g. CrashLoop."),
  message: z.string().max(32768).optional().describe("A sentence for people."),
  lastTransitionTime: moment.optional().describe("When status last changed."),
  observedGeneration: generation.optional().describe("The generation it was computed for."),
});

/** What every status of ours has. */
export const observed = {
  observedGeneration: generation.optional().describe("The generation of the spec that this status is about."),
  conditions: keyedList(condition, "type", 32).optional().describe("Conditions, one per type."),
  message: z.string().max(32768).optional().describe("The state in one sentence."),
  last_updated: moment.optional().describe("When the status last changed."),
};

const resourceRef = z.object({
  apiVersion: z.string().max(253).optional().describe("Group and version."),
  kind: z.string().max(63).describe("Kind."),
  name: z.string().max(253).describe("Name."),
  namespace: z.string().max(63).optional().describe("Namespace; the object's own when absent."),
  uid: z.string().max(128).optional().describe("Uid, so that a namesake is not taken for it."),
});

const functionStatus = z.object({
  function_key: z.string().max(253).describe("Function."),
  service: z.string().max(253).describe("Service in front of it; empty for WASM."),
  port: port.optional().describe("Port of that Service."),
  predicted_url: z.string().max(2048).describe("Where it will answer."),
  observed_url: z.string().max(2048).optional().describe("Where it does answer, once seen."),
  template: z.string().max(63).describe("Template it was rendered with."),
  ready: z.boolean().optional().describe("Whether it is ready."),
  desired_replicas: count.optional().describe("Replicas wanted."),
  ready_replicas: count.optional().describe("Replicas ready."),
  workload: resourceRef.optional().describe("Object that runs it."),
  reason: z.string().max(1024).optional().describe("Why it is not ready, in one word."),
  message: text.optional().describe("Why, in a sentence."),
  lastTransitionTime: moment.optional().describe("When ready last changed."),
});

const templateChoice = z.object({
  name: z.string().max(63).describe("Template in use."),
  basis: z
    .enum(["explicit", "hint", "environment", "score"])
    .describe("Whether the spec named it, hinted at it, its environment named it, or its score was highest."),
  revision: z.string().max(128).optional().describe("Revision of a user template that the children are made with."),
  roll_out: z
    .object({
      revision: z.string().max(128).optional().describe("The newer revision."),
      state: z
        .enum(["waits", "halted", "refused"])
        .describe("Its turn will come; another class failed with it; it cannot be used for this class."),
      message: text.describe("Why, in a sentence."),
    })
    .optional()
    .describe("Why the class stays with its revision although the template has a newer one."),
  scores: keyedList(
    z.object({
      name: z.string().max(63).describe("Template."),
      score: z.number().describe("Score."),
      because: text.optional().describe("What it was made of."),
    }),
    "name",
    64,
  )
    .optional()
    .describe("Every template that was considered."),
});

/** What CRM reports about a class. */
export const classStatusFields = {
  ...observed,
  phase: z.enum(Object.values(LifecyclePhase)).optional().describe("Where it is in its life."),
  condition: z
    .enum(["Pending", "Provisioning", "Running", "Scaling", "Failed", "Terminated"])
    .optional()
    .describe("The same in older words."),
  deployment_phase: z
    .enum(["TemplateSelection", "ResourceProvisioning", "PodScheduling", "ServiceBinding", "HealthChecking", "Ready"])
    .optional()
    .describe("The step it is at, in older words."),
  reason: z.string().max(1024).optional().describe("Why it is as it is, in one word; absent when all is well."),
  observed_generation: generation
    .optional()
    .describe("Written by the Rust manager only; observedGeneration wins when both are there."),
  template: templateChoice.optional().describe("The template in use, and why."),
  resource_refs: z.array(resourceRef).max(1024).optional().describe("Objects CRM made for it."),
  functions: keyedList(functionStatus, "function_key", 128).optional().describe("State of each function."),
  odgm_cluster_status: odgmClusterStatus.optional().describe("State of its state store."),
  routers: z
    .array(
      z.object({
        service: z.string().max(253).describe("Service of the router."),
        port: port.describe("Its port."),
      }),
    )
    .max(64)
    .optional()
    .describe("Zenoh routers wired into its pods."),
  nfr_recommendations: nfrRecommendations.optional().describe("What the analyzer recommends."),
  nfr_compliance: nfrCompliance.optional().describe("Whether its requirements are met."),
  last_applied_recommendations: keyedList(recommendation, ["component", "dimension"], 256)
    .optional()
    .describe("What the enforcer applied last."),
  last_applied_at: moment.optional().describe("When."),
  enforcement_state: keyedList(enforcementState, ["component", "dimension"], 256)
    .optional()
    .describe("Stability windows and cooldowns, so that they survive a restart."),
};
