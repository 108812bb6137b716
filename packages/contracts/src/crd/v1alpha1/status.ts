import { LifecyclePhase } from "@oaas/models";
import { z } from "zod";
import { keyedList } from "../collections.ts";
import { appliedRecommendation, enforcementState, learntCapacity, nfrCompliance, nfrRecommendations } from "./nfr.ts";
import { odgmClusterStatus } from "./odgm.ts";
import { count, timestamp, port, text } from "./scalars.ts";

const generation = z.int().min(0);

/** A Kubernetes condition. `reason` and `message` may be absent, as in objects the Rust manager wrote. */
export const condition = z.object({
  type: z
    .string()
    .min(1)
    .max(316)
    .describe(
      "Available, Progressing, Degraded, OdgmReady, LayoutChangeRefused, TelemetryConfigured, PrometheusDisabled, NfrObserved, and Ready, Reconciling and Stalled by the rules of kstatus; other writers may add their own types.",
    ),
  status: z.enum(["True", "False", "Unknown"]).describe("Status of the condition."),
  reason: z.string().max(1024).optional().describe("Machine-readable reason, e.g. CrashLoop."),
  message: z.string().max(32768).optional().describe("Human-readable message."),
  lastTransitionTime: timestamp.optional().describe("Time of the last status change."),
  observedGeneration: generation.optional().describe("Generation that the condition is based on."),
});

/** The status fields of all kinds. */
export const observed = {
  observedGeneration: generation.optional().describe("Generation of the spec that the status is based on."),
  conditions: keyedList(condition, "type", 32).optional().describe("Conditions, one per type."),
  message: z.string().max(32768).optional().describe("Human-readable status."),
  last_updated: timestamp.optional().describe("Time of the last status change."),
};

const resourceRef = z.object({
  apiVersion: z.string().max(253).optional().describe("Group and version."),
  kind: z.string().max(63).describe("Kind."),
  name: z.string().max(253).describe("Name."),
  namespace: z.string().max(63).optional().describe("Namespace. Default: the namespace of this object."),
  uid: z.string().max(128).optional().describe("UID; distinguishes it from a later object of the same name."),
});

const functionStatus = z.object({
  function_key: z.string().max(253).describe("Function key."),
  service: z.string().max(253).describe("Service of the function; empty for WebAssembly."),
  port: port.optional().describe("Port of the Service."),
  predicted_url: z.string().max(2048).describe("URL derived from the Service name."),
  observed_url: z.string().max(2048).optional().describe("URL observed in the cluster."),
  template: z.string().max(63).describe("Template that rendered the function."),
  ready: z.boolean().optional().describe("Whether the function is ready."),
  desired_replicas: count.optional().describe("Desired replicas."),
  ready_replicas: count.optional().describe("Ready replicas."),
  updated_replicas: count.optional().describe("Ready replicas of the desired revision."),
  serving: z
    .boolean()
    .optional()
    .describe("Whether it answers requests, possibly with an earlier revision or fewer replicas."),
  workload: resourceRef.optional().describe("Workload of the function."),
  reason: z.string().max(1024).optional().describe("Machine-readable reason why it is not ready."),
  message: text.optional().describe("Human-readable message."),
  lastTransitionTime: timestamp.optional().describe("Time of the last change of ready."),
});

const templateChoice = z.object({
  name: z.string().max(63).describe("Template in use."),
  basis: z
    .enum(["explicit", "hint", "environment", "score"])
    .describe("How it was chosen: by the spec, by the hint, by the environment, or by the highest score."),
  revision: z.string().max(128).optional().describe("Revision of the user template that rendered the children."),
  roll_out: z
    .object({
      revision: z.string().max(128).optional().describe("Newer revision."),
      state: z
        .enum(["waits", "halted", "refused"])
        .describe("Queued; stopped because another class failed with it; not usable for this class."),
      message: text.describe("Human-readable message."),
    })
    .optional()
    .describe("Why the class does not use the newer revision of the template."),
  scores: keyedList(
    z.object({
      name: z.string().max(63).describe("Template name."),
      score: z.number().describe("Score."),
      because: text.optional().describe("Contributions to the score."),
    }),
    "name",
    64,
  )
    .optional()
    .describe("Scores of all candidate templates."),
});

const driftCorrection = z.object({
  kind: z.string().max(63).describe("Kind of the corrected object."),
  name: z.string().max(253).describe("Name of the corrected object."),
  fields: z
    .array(
      z.object({
        path: z.string().max(256).describe("Path of the field; empty for the whole object."),
        was: z.string().max(128).describe("JSON of the value that was found, shortened; secrets are masked."),
        now: z.string().max(128).describe("JSON of the restored value."),
      }),
    )
    .max(8)
    .describe("Corrected fields."),
  more_fields: count.optional().describe("Number of further corrected fields."),
  changed_by: z.string().max(128).optional().describe("Field manager that changed it, if known."),
  first_at: timestamp.describe("Time of the first correction."),
  last_at: timestamp.describe("Time of the last correction."),
  duration_ms: z.int().min(0).optional().describe("Milliseconds between the last change and its correction, if known."),
  count: count.describe("Number of corrections; repetitions within a minute are added together."),
});

/** The status of a class. */
export const classStatusFields = {
  ...observed,
  phase: z.enum(Object.values(LifecyclePhase)).optional().describe("Lifecycle phase."),
  condition: z
    .enum(["Pending", "Provisioning", "Running", "Scaling", "Failed", "Terminated"])
    .optional()
    .describe("Condition in the terms of earlier versions."),
  deployment_phase: z
    .enum(["TemplateSelection", "ResourceProvisioning", "PodScheduling", "ServiceBinding", "HealthChecking", "Ready"])
    .optional()
    .describe("Deployment phase in the terms of earlier versions."),
  reason: z.string().max(1024).optional().describe("Machine-readable reason; absent when healthy."),
  observed_generation: generation
    .optional()
    .describe("Written by the Rust manager only; observedGeneration takes precedence."),
  template: templateChoice.optional().describe("Selected template and the reason for the selection."),
  drift_corrections: z
    .array(driftCorrection)
    .max(5)
    .optional()
    .describe("Last corrections of children that others changed, newest first."),
  resource_refs: z.array(resourceRef).max(1024).optional().describe("Objects created for the class."),
  functions: keyedList(functionStatus, "function_key", 128).optional().describe("Status of each function."),
  odgm_cluster_status: odgmClusterStatus.optional().describe("Status of the state store."),
  routers: z
    .array(
      z.object({
        service: z.string().max(253).describe("Router Service."),
        port: port.describe("Router port."),
      }),
    )
    .max(64)
    .optional()
    .describe("Zenoh routers configured in its pods."),
  nfr_recommendations: nfrRecommendations.optional().describe("Recommendations of the analyzer."),
  nfr_compliance: nfrCompliance.optional().describe("Compliance with the requirements, as last measured."),
  nfr_capacity: keyedList(learntCapacity, "component", 129)
    .optional()
    .describe("Learnt capacity of each component, kept across restarts."),
  last_applied_recommendations: keyedList(appliedRecommendation, ["component", "dimension"], 256)
    .optional()
    .describe("Last applied recommendation of each dimension of each component."),
  last_applied_at: timestamp.optional().describe("Time of the last applied recommendation."),
  enforcement_state: keyedList(enforcementState, ["component", "dimension"], 256)
    .optional()
    .describe("Stability windows, cooldowns and enforced values, kept across restarts."),
};
