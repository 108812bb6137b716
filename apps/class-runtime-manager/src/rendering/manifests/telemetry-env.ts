import type { RenderInput } from "../model/render-input.ts";
import type { TelemetryState } from "../model/rendered.ts";

type Env = Readonly<Record<string, string>>;

/** Share of traces to keep when the class and its environment state none. */
const DEFAULT_SAMPLING = 0.1;

/** Telemetry is enabled by the class, else by its environment, else by the cluster; undefined when it is off. */
export function telemetryState({ spec, environment, cluster }: RenderInput): TelemetryState | undefined {
  const stated = spec.telemetry ?? environment?.spec.telemetry;
  const enabled = stated === undefined ? cluster.telemetry.enabled : (stated.enabled ?? true);
  if (!enabled) return undefined;
  const { endpoint } = cluster.telemetry;
  return endpoint === undefined || endpoint === "" ? "no-endpoint" : "configured";
}

/** Names of all variables below. */
export const TELEMETRY_VARIABLES = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_LOGS_ENABLED",
  "OTEL_METRICS_ENABLED",
  "OTEL_RESOURCE_ATTRIBUTES",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_ENABLED",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
] as const;

/** OpenTelemetry variables of a container. Empty when telemetry is off or no endpoint is configured. */
export function telemetryEnv(
  input: RenderInput,
  defaultServiceName: string,
): Readonly<Partial<Record<(typeof TELEMETRY_VARIABLES)[number], string>>> {
  const { spec, environment, cluster } = input;
  const { endpoint } = cluster.telemetry;
  if (telemetryState(input) !== "configured" || endpoint === undefined) return {};
  const stated = spec.telemetry ?? environment?.spec.telemetry;
  const rate = stated?.sampling_rate ?? DEFAULT_SAMPLING;
  const attributes = attributesText(stated?.resource_attributes ?? {});
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_SERVICE_NAME: stated?.service_name ?? defaultServiceName,
    OTEL_TRACES_ENABLED: String(stated?.traces ?? true),
    OTEL_METRICS_ENABLED: String(stated?.metrics ?? true),
    OTEL_LOGS_ENABLED: String(stated?.logs ?? false),
    ...(rate < 1 ? { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: String(rate) } : {}),
    ...(attributes === "" ? {} : { OTEL_RESOURCE_ATTRIBUTES: attributes }),
  };
}

/** `k=v,…` sorted by name; separators are percent-encoded as the OpenTelemetry specification requires. */
function attributesText(attributes: Env): string {
  const encoded = (text: string): string => text.replaceAll(/[%,=;"\\\s]/g, encodeURIComponent);
  return Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join(",");
}
