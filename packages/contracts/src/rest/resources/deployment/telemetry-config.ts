import { LIST_LIMITS, type TelemetryConfig } from "@oaas/models";
import { boolean, fraction, map, omittedByDefault, optional, resource, string } from "../../reading/resource.ts";

/** OpenTelemetry settings of the workloads. */
export const telemetryConfig = resource<TelemetryConfig>()({
  enabled: optional("enabled", "Enables telemetry. Default: true when the block is present.", boolean()),
  traces: optional("traces", "Whether to export traces.", boolean()),
  metrics: optional("metrics", "Whether to export metrics.", boolean()),
  logs: optional("logs", "Whether to export logs.", boolean()),
  samplingRate: optional("sampling_rate", "Share of traces to keep, 0 to 1.", fraction()),
  serviceName: optional("service_name", "Service name in traces.", string()),
  resourceAttributes: omittedByDefault(
    "resource_attributes",
    "Attributes added to all exported telemetry.",
    map(string(), LIST_LIMITS.settings),
    {},
  ),
});
