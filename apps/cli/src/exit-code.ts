import type { Fault } from "@oaas/foundation";

/** Exit codes. They are a public contract, listed in docs/reference/cli.md. */
export const EXIT = {
  done: 0,
  /** The command failed for a reason without its own code. For `diff`: there are differences. */
  failed: 1,
  /** The command line, a file or a context is invalid; nothing was changed. */
  usage: 2,
  notFound: 3,
  /** Not authenticated or not authorized. */
  denied: 4,
  /** A concurrent change won, or the object already exists. */
  conflict: 5,
  /** The package manager or a cluster did not answer in time. */
  unreachable: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Maps a fault to its exit code. */
export function exitCodeOf(fault: Fault): ExitCode {
  switch (fault.detail.kind) {
    case "not-found":
      return EXIT.notFound;
    case "unauthenticated":
    case "permission-denied":
      return EXIT.denied;
    case "already-exists":
    case "conflict":
      return EXIT.conflict;
    case "unavailable":
    case "deadline-exceeded":
      return EXIT.unreachable;
    case "cancelled":
      return EXIT.interrupted;
    case "invalid-argument":
    case "failed-precondition":
    case "resource-exhausted":
    case "unimplemented":
    case "partial-failure":
    case "internal":
      return EXIT.failed;
  }
}

/** A fault with its own hint and exit code. */
export class ReportedFault extends Error {
  readonly fault: Fault;
  readonly hint: string;
  readonly exitCode: ExitCode;
  constructor(fault: Fault, hint: string, exitCode: ExitCode) {
    super(fault.message);
    this.fault = fault;
    this.hint = hint;
    this.exitCode = exitCode;
  }
}

/** Invalid user input, detected before any request was sent. */
export class UsageError extends Error {
  readonly fix: string | undefined;
  constructor(message: string, fix?: string) {
    super(message);
    this.fix = fix;
  }
}
