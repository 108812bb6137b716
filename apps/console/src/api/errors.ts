/** One violation of a rule, with its place in the sent document. */
export interface Violation {
  readonly path: string;
  readonly message: string;
  readonly fix?: string | undefined;
}

/** The parts of an RFC 9457 problem document that the console shows. */
export interface ProblemDocument {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly kind?: string;
  readonly retryable?: boolean;
  readonly correlationId?: string;
  readonly violations?: readonly Violation[];
  readonly evidence?: unknown;
}

/** An error response, or no response (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: ProblemDocument;
  /** Of the header `retry-after`. */
  readonly retryAfterSeconds: number | undefined;

  constructor(status: number, problem: ProblemDocument, retryAfterSeconds?: number) {
    super(problem.detail ?? problem.title ?? `HTTP ${status}`);
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
    this.retryAfterSeconds = retryAfterSeconds;
  }

  get violations(): readonly Violation[] {
    return this.problem.violations ?? [];
  }

  /** Another writer was faster: 409 of the API, 412 of `if-match`. */
  get isConflict(): boolean {
    return this.status === 412 || (this.status === 409 && this.problem.kind === "conflict");
  }

  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** Reads an error response. A proxy in between may answer with anything. */
export function errorFromResponse(status: number, text: string, retryAfter: string | null): ApiError {
  const seconds = retryAfter === null || !/^\d+$/.test(retryAfter) ? undefined : Number(retryAfter);
  return new ApiError(status, problemFrom(text), seconds);
}

function problemFrom(text: string): ProblemDocument {
  try {
    const json: unknown = JSON.parse(text);
    if (typeof json === "object" && json !== null) return json;
  } catch {
    // Not one of our documents.
  }
  return {};
}
