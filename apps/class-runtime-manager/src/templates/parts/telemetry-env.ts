import type { RenderInput } from "../template.ts";

type Env = Readonly<Record<string, string>>;

/** Shares of traces kept, when nobody says. */
const DEFAULT_SAMPLING = 0.1;

/**
 * OpenTelemetry variables of a container: the class's switches, else the environment's, else the cluster's. Empty when
 * telemetry is off or there is nowhere to send it.
 */
export function telemetryEnv(input: RenderInput, defaultServiceName: string): Env {
  const { spec, environment, cluster } = input;
  const stated = spec.telemetry ?? environment?.spec.telemetry;
  const enabled = stated === undefined ? cluster.telemetry.enabled : (stated.enabled ?? true);
  const { endpoint } = cluster.telemetry;
  if (!enabled || endpoint === undefined || endpoint === "") return {};
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

/** `k=v,…` sorted by name; what would be taken for a separator is percent-encoded, as the specification says. */
function attributesText(attributes: Env): string {
  const encoded = (text: string): string => text.replaceAll(/[%,=;"\\\s]/g, encodeURIComponent);
  return Object.entries(attributes)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join(",");
}
