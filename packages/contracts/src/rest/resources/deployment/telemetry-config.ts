import type { TelemetryConfig } from "@oaas/models";
import { z } from "zod";
import { flag, input, mapOf, optional, present, share, text, view } from "../../reading/fields.ts";

const TELEMETRY = {
  enabled: "Enables telemetry. Default: true when the block is present.",
  traces: "Whether to export traces.",
  metrics: "Whether to export metrics.",
  logs: "Whether to export logs.",
  sampling_rate: "Share of traces to keep, 0 to 1.",
  service_name: "Service name in traces.",
  resource_attributes: "Attributes added to all exported telemetry.",
};

/** What may be sent about telemetry. */
export const telemetryConfigInput = input(
  {
    enabled: optional(flag()),
    traces: optional(flag()),
    metrics: optional(flag()),
    logs: optional(flag()),
    sampling_rate: optional(share()),
    service_name: optional(text()),
    resource_attributes: mapOf(text()),
  },
  TELEMETRY,
).transform(({ sampling_rate, service_name, resource_attributes, ...switches }): TelemetryConfig =>
  present({
    ...switches,
    samplingRate: sampling_rate,
    serviceName: service_name,
    resourceAttributes: resource_attributes,
  }),
);

/** Telemetry as it is sent. */
export const telemetryConfigView = view(
  {
    enabled: z.boolean().optional(),
    traces: z.boolean().optional(),
    metrics: z.boolean().optional(),
    logs: z.boolean().optional(),
    sampling_rate: z.number().optional(),
    service_name: z.string().optional(),
    resource_attributes: z.record(z.string(), z.string()).readonly().optional(),
  },
  TELEMETRY,
);

/** Writes telemetry in the contract's JSON. */
export function telemetryConfigToWire(telemetry: TelemetryConfig): z.output<typeof telemetryConfigView> {
  const { samplingRate, serviceName, resourceAttributes, ...switches } = telemetry;
  return present({
    ...switches,
    sampling_rate: samplingRate,
    service_name: serviceName,
    resource_attributes: Object.keys(resourceAttributes).length === 0 ? undefined : resourceAttributes,
  });
}
