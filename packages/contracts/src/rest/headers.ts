/** The header names of the REST interface, in the lower case in which Node and fetch both give them. */
export const HEADERS = {
  correlationId: "x-correlation-id",
  idempotencyKey: "idempotency-key",
  ifMatch: "if-match",
  etag: "etag",
  retryAfter: "retry-after",
  totalCount: "x-total-count",
  nextPageToken: "x-next-page-token",
  /** Clusters that could not be asked, so that a list with a hole in it says so. */
  missingClusters: "x-missing-clusters",
  lastEventId: "last-event-id",
} as const;

/** The media type of every refusal. */
export const PROBLEM_TYPE = "application/problem+json";
