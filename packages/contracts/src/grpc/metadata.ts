/** All metadata keys of the services. */
export const METADATA_KEYS = {
  /** Identifies a request in all processes, logs, annotations and Events. Returned on success and on error. */
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
  /** Trailing; gRPC's standard retry delay. */
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

/** Milliseconds of a `grpc-timeout` value; undefined (no deadline) when invalid. */
export function parseGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = FORM.exec(value) ?? [];
  const msPerUnit = MS_PER_UNIT.get(unit ?? "");
  return digits === undefined || msPerUnit === undefined ? undefined : Number(digits) * msPerUnit;
}

/** The `grpc-timeout` value of a duration: the finest unit that fits in 8 digits, rounded up. */
export function formatGrpcTimeout(timeoutMs: number): string {
  // Units below one millisecond only for shorter durations: peers count in milliseconds.
  const usable = timeoutMs > 0 && timeoutMs < 1 ? UNITS : UNITS.slice(2);
  for (const [unit, msPerUnit] of usable) {
    const count = Math.ceil(Math.max(0, timeoutMs) / msPerUnit);
    if (count <= LARGEST) return `${count}${unit}`;
  }
  return `${LARGEST}H`;
}
