import type { Ambient } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { AuditSink } from "../../access/audit-queue.ts";
import type { PmConfig } from "../../config.ts";
import { VERSION } from "../../version.ts";
import { createFileSink } from "./file-sink.ts";
import { createOtlpSink } from "./otlp-sink.ts";
import { createDescriptorSink } from "./stdout-sink.ts";

const STDOUT = 1;

/** Opens the audit sink that the configuration names. A file that cannot be opened stops the start. */
export async function openAuditSink(
  { audit }: Pick<PmConfig, "audit">,
  ambient: Ambient,
  logger: Logger,
): Promise<AuditSink> {
  const { sink, file, fileMaxBytes: maxBytes, otlpEndpoint: endpoint, otlpHeaders: headers } = audit;
  if (sink === "file" && file !== undefined) {
    const opened = createFileSink({ file, maxBytes, clock: ambient.clock });
    await opened.write([]);
    return opened;
  }
  if (sink === "otlp" && endpoint !== undefined) return createOtlpSink({ endpoint, headers, version: VERSION, logger });
  return sink === "none" ? { write: async () => undefined } : createDescriptorSink(STDOUT, ambient.timers);
}
