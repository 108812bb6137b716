import { Fault } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import type { Call } from "@oaas/rpc";

/** A requested change. */
export interface RequestedChange {
  readonly action: string;
  readonly namespace: string;
  /** Id of the deployment. */
  readonly target: string;
}

/** Writes requested changes to the log at level warn, whatever the level of the log. */
export interface AuditLog {
  /** Runs a change and logs it with its caller, also when it fails. `outcomeOf` returns what the change did. */
  record<T>(
    call: Pick<Call, "caller" | "correlationId">,
    change: RequestedChange,
    work: () => Promise<T>,
    outcomeOf: (result: T) => string,
  ): Promise<T>;
  /** Logs a change whose caller was rejected. */
  reject(action: string, address: string, fault: Fault): void;
}

export function createAuditLog(logger: Logger): AuditLog {
  const log = logger.child({ audit: true }, { level: "warn" });
  return {
    record: async (call, change, work, outcomeOf) => {
      const fields = { caller: call.caller, ...change, correlation_id: call.correlationId };
      try {
        const result = await work();
        log.warn("audit", { ...fields, outcome: outcomeOf(result) });
        return result;
      } catch (thrown) {
        log.warn("audit", { ...fields, outcome: "refused", refused: Fault.from(thrown).message });
        throw thrown;
      }
    },
    reject: (action, address, { message }) =>
      log.warn("audit", { caller: `unknown@${address}`, action, outcome: "refused", refused: message }),
  };
}
