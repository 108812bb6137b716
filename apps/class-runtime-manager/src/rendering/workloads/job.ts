import { hashJson } from "@oaas/foundation/hash";
import { omitUndefined } from "../manifests/manifest.ts";
import { jobName } from "../plan/names.ts";
import { alwaysOnReplicas } from "../plan/scale.ts";
import type { WorkloadRenderer } from "./workload.ts";
import { renderWorkload, renderPodPolicies, renderPodTemplate, workloadRef } from "./function-children.ts";

/** Retries before a Job fails. */
const BACKOFF_LIMIT = 3;

/**
 * Functions that run to completion, once per spec. The pods of a Job are immutable, so that another spec needs another
 * Job, named after its hash. Jobs have no TTL: an expired Job would be created and run again.
 */
export const jobRenderer: WorkloadRenderer = {
  callable: false,
  reservedEnv: new Set(),
  whyNotToZero: () => "a Job runs once and gets no requests",
  render(context) {
    const { plan, fn } = context;
    const replicas = alwaysOnReplicas(fn.scale);
    const template = renderPodTemplate(context) as { readonly spec: Readonly<Record<string, unknown>> };
    const body = omitUndefined({
      parallelism: replicas,
      completions: replicas,
      backoffLimit: BACKOFF_LIMIT,
      template: { ...template, spec: { ...withoutProbes(template.spec), restartPolicy: "OnFailure" } },
    }) as Readonly<Record<string, unknown>>;
    const workload = renderWorkload(context, {
      apiVersion: "batch/v1",
      kind: "Job",
      name: jobName(fn.name, hashJson(body)),
      body,
    });
    return {
      children: [workload, ...renderPodPolicies(plan, fn, 1)],
      rendered: {
        functionKey: fn.key,
        runtime: "workload",
        workload: workloadRef(workload),
        service: "",
        port: 0,
        predictedUrl: "",
        replicas,
        replicasOwner: "template",
      },
    };
  },
};

/** A Job has no ports and no probes. */
function withoutProbes(pod: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const containers = pod["containers"] as readonly Readonly<Record<string, unknown>>[];
  return {
    ...pod,
    containers: containers.map(
      ({ readinessProbe: _r, livenessProbe: _l, startupProbe: _s, ports: _p, ...rest }) => rest,
    ),
  };
}
