/** The gRPC status codes by name. The numbers are gRPC's own, so no transport is needed to know them. */
export const GRPC_STATUS = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
  UNAUTHENTICATED: 16,
} as const;

export type GrpcStatusName = keyof typeof GRPC_STATUS;
export type GrpcStatusCode = (typeof GRPC_STATUS)[GrpcStatusName];

const NAMES: ReadonlyMap<number, string> = new Map(Object.entries(GRPC_STATUS).map(([name, code]) => [code, name]));

/** The name of a status code; a code that gRPC does not know is named by its number. */
export function grpcStatusName(code: number): string {
  return NAMES.get(code) ?? `CODE_${code}`;
}
