/** The header names of the REST API, in lower case as in Node and fetch. */
export const HEADERS = {
  correlationId: "x-correlation-id",
  idempotencyKey: "idempotency-key",
  ifMatch: "if-match",
  ifNoneMatch: "if-none-match",
  etag: "etag",
  retryAfter: "retry-after",
  /** URL of the resource that a write created or of its status. */
  location: "location",
  contentLocation: "content-location",
  /** Set on a response replayed for a repeated idempotency key. */
  idempotencyReplayed: "idempotency-replayed",
  totalCount: "x-total-count",
  nextPageToken: "x-next-page-token",
  /** Unreachable clusters that are missing in a list. */
  missingClusters: "x-missing-clusters",
  /** Problems that did not stop the request, each with code 299 (RFC 7234, 5.5). */
  warning: "warning",
  lastEventId: "last-event-id",
} as const;

/** The CSRF token of a session. Not for pages of other origins, and so not among `HEADERS`. */
export const CSRF_HEADER = "x-csrf-token";

/** The media type of error responses. */
export const PROBLEM_TYPE = "application/problem+json";
