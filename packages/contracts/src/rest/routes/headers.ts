/** The header names of the REST interface, in the lower case in which Node and fetch both give them. */
export const HEADERS = {
  correlationId: "x-correlation-id",
  idempotencyKey: "idempotency-key",
  ifMatch: "if-match",
  ifNoneMatch: "if-none-match",
  etag: "etag",
  retryAfter: "retry-after",
  /** Where the thing is that an answer to a write tells of. */
  location: "location",
  contentLocation: "content-location",
  /** On an answer that an earlier request with the same idempotency key got. */
  idempotencyReplayed: "idempotency-replayed",
  totalCount: "x-total-count",
  nextPageToken: "x-next-page-token",
  /** Clusters that could not be asked, so that a list with a hole in it says so. */
  missingClusters: "x-missing-clusters",
  lastEventId: "last-event-id",
} as const;

/** The media type of every refusal. */
export const PROBLEM_TYPE = "application/problem+json";
