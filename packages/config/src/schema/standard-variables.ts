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
      .doc("Lowest severity that is logged."),
    format: env("LOG_FORMAT")
      .oneOf(["json", "plain", "auto"], { pretty: "plain", text: "plain", compact: "plain" })
      .default("auto")
      .doc("Log format: JSON, or plain text; auto is plain on a terminal and JSON elsewhere."),
  };
}

/** Names of the tracing variables that earlier releases documented. No service emits spans yet. */
export const TRACING_VARIABLES: readonly string[] = [
  "TRACING_ENABLED",
  "TRACING_ENDPOINT",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_SAMPLER_ARG",
];
