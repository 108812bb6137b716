import { ok } from "@oaas/foundation";
import { invalid, type Kind } from "../kinds/kind.ts";
import { env } from "./variable.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "off"] as const;

/** Lowest severity that is logged. */
export type LogLevelSetting = (typeof LEVELS)[number];

/**
 * A log level, also in the format of RUST_LOG ("info,hyper=warn"): the level without a target, else the first one.
 */
export function logLevelKind(): Kind<LogLevelSetting> {
  return {
    label: LEVELS.join(" | "),
    echo: true,
    parse: (text) => {
      const directives = text
        .toLowerCase()
        .split(",")
        .map((part) => part.trim().split("="));
      const chosen = directives.find((directive) => directive.length === 1) ?? directives[0];
      const word = chosen?.at(-1)?.trim();
      const level = LEVELS.find((known) => known === word || (known === "warn" && word === "warning"));
      return level === undefined ? invalid(`must be one of ${LEVELS.join(", ")}`) : ok(level);
    },
    show: (level) => level,
    fromDefault: (level) => level,
  };
}

/** Log settings of every service; `aliases` are older names of the level. */
export function loggingVariables(...aliases: readonly string[]) {
  return {
    level: env("LOG_LEVEL")
      .as(logLevelKind())
      .alias(...aliases, "RUST_LOG")
      .default("info")
      .reloads()
      .doc("Lowest severity that is logged."),
    format: env("LOG_FORMAT")
      .oneOf(["json", "plain", "auto"], { pretty: "plain", text: "plain", compact: "plain" })
      .default("auto")
      .doc("Log format: JSON, or plain text; auto is plain on a terminal and JSON elsewhere."),
  };
}

const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
] as const;

/** Trace settings of every service, with the names of the OpenTelemetry specification. */
export function tracingVariables() {
  return {
    endpoint: env("OTEL_EXPORTER_OTLP_ENDPOINT")
      .url()
      .alias("TRACING_ENDPOINT")
      .optional()
      .doc("Base URL of an OTLP/HTTP receiver; traces are sent as JSON to its path /v1/traces. No traces without it.")
      .example("http://otel-collector:4318"),
    headers: env("OTEL_EXPORTER_OTLP_HEADERS")
      .string()
      .secret()
      .optional()
      .doc("Headers of requests to the receiver: name=value pairs, separated by commas; values may be percent-encoded.")
      .example("x-tenant=oaas"),
    timeoutMs: env("OTEL_EXPORTER_OTLP_TIMEOUT")
      .int({ min: 1, max: 300_000 })
      .default(10_000)
      .doc("Time limit of a request to the receiver, in milliseconds."),
    sampler: env("OTEL_TRACES_SAMPLER")
      .oneOf(SAMPLERS)
      .default("parentbased_always_on")
      .doc("Which traces are recorded. The parent-based samplers follow the decision of the caller."),
    ratio: env("OTEL_TRACES_SAMPLER_ARG")
      .float({ min: 0, max: 1 })
      .default(1)
      .doc("Share of traces that traceidratio and parentbased_traceidratio record."),
    serviceName: env("OTEL_SERVICE_NAME")
      .string()
      .optional()
      .doc("The service.name of the traces. Default: oprc-pm or oprc-crm."),
  };
}
