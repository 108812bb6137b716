import { Fault, type FaultCode, type FaultDetail } from "@oaas/foundation";

/** A fault as a journal keeps it: what may be shown outside, and what decides about trying again. */
export interface StoredFault {
  readonly detail: Exclude<FaultDetail, { kind: "partial-failure" }>;
  readonly code: FaultCode;
  readonly message: string;
}

/** Takes down a fault; one of several parts becomes internal, as a step has one effect and so one fault. */
export function storeFault(fault: Fault): StoredFault {
  const { detail, code, message } = fault;
  return { detail: detail.kind === "partial-failure" ? { kind: "internal" } : detail, code, message };
}

export function restoreFault(stored: StoredFault): Fault {
  return new Fault(stored.detail, stored.message, { code: stored.code });
}
