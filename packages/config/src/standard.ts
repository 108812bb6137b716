import { ok } from "@oaas/foundation";
import { wrong, type Kind } from "./kind.ts";
import { env } from "./variable.ts";

const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "off"] as const;

/** Least severity that is logged. */
export type LogLevelSetting = (typeof LEVELS)[number];

/**
 * A log level, also in the form of RUST_LOG ("info,hyper=warn"): there the level without a target counts, or else
 * the first one, because we have no targets.
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
      return level === undefined ? wrong(`must be one of ${LEVELS.join(", ")}`) : ok(level);
    },
    show: (level) => level,
    fromDefault: (level) => level,
  };
}

/** Level and form of the log, the same for every service; `aliases` are the service's older names of the level. */
export function loggingVariables(...aliases: readonly string[]) {
  return {
    level: env("LOG_LEVEL")
      .as(logLevelKind())
      .alias(...aliases, "RUST_LOG")
      .default("info")
      .doc("Least severity that is logged."),
    format: env("LOG_FORMAT")
      .oneOf(["json", "plain", "auto"], { pretty: "plain", text: "plain", compact: "plain" })
      .default("auto")
      .doc("Form of a log line: JSON, or plain for people; auto is plain on a terminal and JSON elsewhere."),
  };
}

/** Export of traces, the same for every service; off while no endpoint is set. */
export function tracingVariables(service: string) {
  return {
    enabled: env("TRACING_ENABLED").bool().default(true).doc("false sends no traces, also when a collector is named."),
    endpoint: env("OTEL_EXPORTER_OTLP_ENDPOINT")
      .url()
      .alias("TRACING_ENDPOINT")
      .optional()
      .doc("Collector that traces are sent to, by OTLP over HTTP. Tracing is off without it.")
      .example("http://otel-collector:4318"),
    serviceName: env("OTEL_SERVICE_NAME").string().default(service).doc("Name of this service in traces."),
    sampleRatio: env("OTEL_TRACES_SAMPLER_ARG")
      .float({ min: 0, max: 1 })
      .default(1)
      .doc("Share of new traces that is recorded; a caller's own decision is followed."),
  };
}
