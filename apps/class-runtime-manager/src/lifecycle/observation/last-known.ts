import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { Expected, Observation } from "./observation.ts";

/** When a new spec cannot be rendered, the functions of the previous status are still running and stay observed. */
export function withLastKnownFunctions(
  observation: Observation,
  previous: ClassRuntimeStatus | undefined,
): Observation {
  if (observation.expected !== undefined || observation.deleting || observation.problems.length === 0) {
    return observation;
  }
  const { template, functions = [] } = previous ?? {};
  const running = functions.flatMap(({ workload, function_key, service, port, predicted_url, desired_replicas }) => {
    if (workload?.apiVersion === undefined) return [];
    const { apiVersion, kind, name } = workload;
    const ref = { apiVersion, kind, name };
    const runtime = "workload" as const;
    return [
      {
        functionKey: function_key,
        runtime,
        workload: ref,
        service,
        port: port ?? 0,
        predictedUrl: predicted_url,
        replicas: desired_replicas,
      },
    ];
  });
  if (template === undefined || running.length === 0) return observation;
  const expected: Expected = { template, children: [], functions: running };
  return { ...observation, expected };
}
