import type { Logger } from "@oaas/observability";

/** One change that somebody asked for, and what came of it. */
export interface AuditEntry {
  readonly caller: string;
  readonly action: string;
  readonly target: string;
  /** The status it was answered with. */
  readonly status: number;
  readonly correlationId: string;
  /** Why it was refused. */
  readonly refused?: string;
}

export interface AuditTrail {
  record(entry: AuditEntry): void;
}

/** Writes each change as a log line that no level leaves out. */
export function auditToLog(logger: Logger): AuditTrail {
  const log = logger.child({ audit: true });
  return {
    record: ({ caller, action, target, status, correlationId, refused }) =>
      log.warn("audit", {
        caller,
        action,
        target,
        status,
        correlation_id: correlationId,
        ...(refused === undefined ? {} : { refused }),
      }),
  };
}
