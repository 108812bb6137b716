import type { Fault } from "@oaas/foundation";

/** How a command ends. They are part of the interface: docs/reference/cli.md lists them, scripts may rely on them. */
export const EXIT = {
  done: 0,
  /** It was refused or failed, and nothing below fits better. For `diff`: there are differences. */
  failed: 1,
  /** The command line, a file or a context is wrong; nothing was changed. */
  usage: 2,
  notFound: 3,
  /** Not logged in, or not allowed. */
  denied: 4,
  /** Somebody else was faster, or the thing is there already. */
  conflict: 5,
  /** The package manager or a cluster did not answer in time. */
  unreachable: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The exit code that a fault means. */
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

/** A mistake of the person's that was found before anything was sent. */
export class UsageError extends Error {
  readonly fix: string | undefined;
  constructor(message: string, fix?: string) {
    super(message);
    this.fix = fix;
  }
}
