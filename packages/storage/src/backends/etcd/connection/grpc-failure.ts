/** gRPC status codes that this client distinguishes. */
export const GrpcCode = {
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  failedPrecondition: 9,
  outOfRange: 11,
  unimplemented: 12,
  unavailable: 14,
  dataLoss: 15,
  unauthenticated: 16,
} as const;

/** A call that ended without status OK. */
export class GrpcFailure extends Error {
  override readonly name = "GrpcFailure";
  readonly code: number;
  readonly details: string;
  /** Whether the server may have received the request. */
  readonly sent: boolean;

  constructor(code: number, details: string, sent: boolean, cause?: unknown) {
    super(`${code}: ${details}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.sent = sent;
  }
}
