/** Every metadata key the services read or write; nobody else spells one. */
export const METADATA_KEYS = {
  /** Names a request through all processes, logs, annotations and Events. Echoed on success and on error. */
  correlationId: "x-correlation-id",
  /** W3C trace context. */
  traceparent: "traceparent",
  tracestate: "tracestate",
  /** `Bearer <token>`. */
  authorization: "authorization",
  /** The caller's deadline; see `parseGrpcTimeout`. */
  timeout: "grpc-timeout",
  /** Trailing; an `oaas.common.FaultStatus`. */
  fault: "oaas-fault-bin",
  /** Trailing; gRPC's own way to tell a client when to try again. */
  retryPushbackMs: "grpc-retry-pushback-ms",
} as const;

/** Milliseconds per unit of the `grpc-timeout` header, finest first. */
const UNITS = [
  ["n", 1e-6],
  ["u", 1e-3],
  ["m", 1],
  ["S", 1_000],
  ["M", 60_000],
  ["H", 3_600_000],
] as const;

const MS_PER_UNIT: ReadonlyMap<string, number> = new Map(UNITS);
const FORM = /^(\d{1,8})([HMSmun])$/;
const LARGEST = 99_999_999;

/** Milliseconds of a `grpc-timeout` value; undefined (no deadline) for anything that is not one. */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = FORM.exec(value) ?? [];
  const msPerUnit = MS_PER_UNIT.get(unit ?? "");
  return digits === undefined || msPerUnit === undefined ? undefined : Number(digits) * msPerUnit;
}

/** The `grpc-timeout` value for a time left: the finest unit that fits, never less than the time, at most 8 digits. */
export function formatGrpcTimeout(timeoutMs: number): string {
  // Finer than a millisecond only helps below one: peers count in milliseconds.
  const usable = timeoutMs > 0 && timeoutMs < 1 ? UNITS : UNITS.slice(2);
  for (const [unit, msPerUnit] of usable) {
    const count = Math.ceil(Math.max(0, timeoutMs) / msPerUnit);
    if (count <= LARGEST) return `${count}${unit}`;
  }
  return `${LARGEST}H`;
}
