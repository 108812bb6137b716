import { canonicalJson } from "@oaas/foundation";
import { manifest } from "../../rendering/manifests/manifest.ts";
import type { Labels } from "../../rendering/manifests/labels.ts";
import type { Manifest } from "../../rendering/model/rendered.ts";
import type { OdgmPlan } from "../plan/odgm-plan.ts";

/** What the variables of the grid do not hold, as files: collections and triggers in full. */
export function odgmConfigMap({ ofClass, names, requests, events }: OdgmPlan, labels: Labels): Manifest {
  return manifest(
    ofClass.input,
    { apiVersion: "v1", kind: "ConfigMap", name: names.config, labels },
    {
      data: {
        "collections.json": JSON.stringify(requests),
        "events.json": canonicalJson({
          enabled: events.enabled,
          max_trigger_depth: events.maxTriggerDepth,
          trigger_timeout_ms: events.triggerTimeoutMs,
          event_triggers: events.triggers,
          batch_processing: events.batch,
        }),
      },
    },
  );
}
