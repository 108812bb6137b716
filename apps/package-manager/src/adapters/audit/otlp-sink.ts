import type { AuditEntry } from "@oaas/contracts/rest";
import { unavailable } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { AuditSink } from "../../access/audit-queue.ts";

export interface OtlpSinkOptions {
  /** Base URL of the collector; `/v1/logs` is added unless it ends with it. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly version: string;
  readonly logger: Logger;
}

const TIMEOUT_MS = 10_000;
/** The collector will never accept this request. */
const INVALID_REQUEST: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/**
 * Exports audit entries as log records over OTLP/HTTP with JSON.
 *
 * *Guarantees*: entries are sent again until the collector accepts them, so it may get an entry twice. Entries that it rejects as
 * invalid are logged and given up; the store has them.
 */
export function createOtlpSink({ endpoint, headers, version, logger }: OtlpSinkOptions): AuditSink {
  const url = endpoint.endsWith("/v1/logs") ? endpoint : `${endpoint.replace(/\/$/, "")}/v1/logs`;
  return {
    write: async (entries) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(exportRequest(entries, version)),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }).catch((thrown: unknown) => {
        throw unavailable("audit collector", `the OTLP collector ${url} does not respond`, { cause: thrown });
      });
      const text = await response.text();
      if (response.ok) return reportPartial(text, logger);
      if (!INVALID_REQUEST.has(response.status))
        throw unavailable("audit collector", `the OTLP collector ${url} responds ${response.status}`);
      logger.error("collector rejected audit entries", { url, status: response.status, entries: entries.length });
    },
  };
}

/** ExportLogsServiceRequest in the JSON mapping of OTLP: 64-bit integers are strings. */
function exportRequest(entries: readonly AuditEntry[], version: string): object {
  const instances = Map.groupBy(entries, ({ instance }) => instance);
  return {
    resourceLogs: [...instances].map(([instance, own]) => ({
      resource: { attributes: attributes({ "service.name": "oprc-pm", "service.instance.id": instance }) },
      scopeLogs: [{ scope: { name: "oaas.audit", version }, logRecords: own.map(logRecord) }],
    })),
  };
}

/** The body is the sealed line, so that the chain can be verified from the collector's data. */
function logRecord(entry: AuditEntry): object {
  const time = `${Date.parse(entry.time)}000000`;
  const isError = entry.outcome === "failed";
  return {
    timeUnixNano: time,
    observedTimeUnixNano: time,
    severityNumber: isError ? 17 : 9,
    severityText: isError ? "ERROR" : "INFO",
    eventName: "oaas.audit",
    body: { stringValue: JSON.stringify(entry) },
    attributes: attributes({
      "audit.id": entry.id,
      "audit.action": entry.action,
      "audit.outcome": entry.outcome,
      "audit.target": entry.target,
      "enduser.id": entry.actor.subject,
      "client.address": entry.actor.address,
      "http.response.status_code": entry.status,
    }),
  };
}

function attributes(values: Readonly<Record<string, string | number | null>>): readonly object[] {
  return Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => ({
      key,
      value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
    }));
}

function reportPartial(text: string, logger: Logger): void {
  const rejected = /"rejectedLogRecords"\s*:\s*"?(\d+)/.exec(text)?.[1];
  if (rejected !== undefined && rejected !== "0")
    logger.error("collector rejected audit entries", { entries: Number(rejected), response: text.slice(0, 500) });
}
