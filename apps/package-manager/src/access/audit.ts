import type { LogFields, Logger } from "@oaas/observability";

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
  /** Resolves when the entry is written, so that nobody is answered before. */
  record(entry: AuditEntry): Promise<void>;
}

/**
 * Writes each change as a log line that no level leaves out.
 *
 * *Guarantees*: a change that was answered has its line. Lines of changes that end in the same turn of the event loop are written
 * together, at its end, which makes a line cheap exactly when there are many.
 */
export function auditToLog(logger: Logger, afterTurn: (work: () => void) => void): AuditTrail {
  const log = logger.child({ audit: true });
  let waiting: AuditEntry[] = [];
  let written: PromiseWithResolvers<void> | undefined;
  const write = (): void => {
    const [entries, whenWritten] = [waiting, written];
    waiting = [];
    written = undefined;
    log.together(() => {
      for (const entry of entries) log.warn("audit", fieldsOf(entry));
    });
    whenWritten?.resolve();
  };
  return {
    record: (entry) => {
      waiting.push(entry);
      if (written === undefined) {
        written = Promise.withResolvers();
        afterTurn(write);
      }
      return written.promise;
    },
  };
}

function fieldsOf({ caller, action, target, status, correlationId, refused }: AuditEntry): LogFields {
  const fields = { caller, action, target, status, correlation_id: correlationId };
  return refused === undefined ? fields : { ...fields, refused };
}
