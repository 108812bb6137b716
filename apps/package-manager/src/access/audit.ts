import type { LogFields, Logger } from "@oaas/observability";

/** One change that a caller requested, and its result. */
export interface AuditEntry {
  readonly caller: string;
  readonly action: string;
  readonly target: string;
  /** Status of the response. */
  readonly status: number;
  readonly correlationId: string;
  /** Reason for a rejection. */
  readonly refused?: string;
}

export interface AuditTrail {
  /** Resolves when the entry is written. Send the response after that. */
  record(entry: AuditEntry): Promise<void>;
}

/** Writes each change as a log line at level warn, synchronously. */
export function auditToLog(logger: Logger): AuditTrail {
  const log = logger.child({ audit: true });
  return {
    record: async (entry) => log.warn("audit", fieldsOf(entry)),
  };
}

function fieldsOf({ caller, action, target, status, correlationId, refused }: AuditEntry): LogFields {
  const fields = { caller, action, target, status, correlation_id: correlationId };
  return refused === undefined ? fields : { ...fields, refused };
}
