import { Fault, type FaultCode, type FaultDetail } from "@oaas/foundation";

/** A fault in a journal: the parts that may be shown outside and that decide about retries. */
export interface StoredFault {
  readonly detail: Exclude<FaultDetail, { kind: "partial-failure" }>;
  readonly code: FaultCode;
  readonly message: string;
}

/** A partial failure is stored as internal: a step has one effect and one fault. */
export function storeFault(fault: Fault): StoredFault {
  const { detail, code, message } = fault;
  return { detail: detail.kind === "partial-failure" ? { kind: "internal" } : detail, code, message };
}

export function restoreFault(stored: StoredFault): Fault {
  return new Fault(stored.detail, stored.message, { code: stored.code });
}
