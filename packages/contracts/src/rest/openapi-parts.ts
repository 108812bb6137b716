import { HEADERS, PROBLEM_TYPE } from "./headers.ts";

/** The parts of the OpenAPI document that its operations share. */

const header = (name: string, description: string) => ({
  name,
  in: "header",
  required: false,
  description,
  schema: { type: "string" },
});

/** Request headers that several operations take. */
export const PARAMETERS = {
  CorrelationId: header(
    HEADERS.correlationId,
    "Follows the request through every process and log line; made up when absent.",
  ),
  IfMatch: header(
    HEADERS.ifMatch,
    "ETags, one of which the thing must have, or `*` when it must be there; else it is refused with 412.",
  ),
  IfNoneMatch: header(
    HEADERS.ifNoneMatch,
    "ETags, none of which the thing may have, or `*` when it must not be there; else a read is answered with 304 and a write with 412.",
  ),
  IdempotencyKey: header(HEADERS.idempotencyKey, "The same key with the same body is carried out once."),
  LastEventId: header(HEADERS.lastEventId, "Resume after this event."),
};

/** What stands in a path, by the word before it. */
export const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  packages: "The package's name.",
  deployments: "The deployment's key.",
  revisions: "The revision's number.",
  "class-runtimes": "The unit's id.",
  "deployment-records": "The unit's id.",
  "deployment-status": "The unit's id.",
  clusters: "The cluster's name.",
  envs: "The cluster's name.",
};

/** What the operations of a tag are about, in the order in which they are told. */
export const TAGS: Readonly<Record<string, string>> = {
  packages: "What is published: packages and their revisions.",
  deployments: "What shall run: wishes, how they are fulfilled, their history.",
  events: "What happens, as it happens.",
  plans: "What would be done, and why.",
  "class-runtimes": "What runs in each cluster.",
  clusters: "Where it runs.",
  catalogue: "Classes and functions of all packages, and what belongs to what.",
  service: "The package manager itself.",
};

/** Response headers that several operations give. */
export const RESPONSE_HEADERS = {
  CorrelationId: { description: "The id of this request in every log.", schema: { type: "string" } },
  TotalCount: { description: "How many there are over all pages.", schema: { type: "integer", minimum: 0 } },
  NextPageToken: { description: "Where the next page starts; absent on the last.", schema: { type: "string" } },
  ETag: { description: "The version that was read or written.", schema: { type: "string" } },
  RetryAfter: { description: "Seconds to wait before trying again.", schema: { type: "integer", minimum: 0 } },
  Location: { description: "Where what was made is, or where to follow it.", schema: { type: "string" } },
  ContentLocation: { description: "Where the deployment is.", schema: { type: "string" } },
  IdempotencyReplayed: {
    description: "`true` when an earlier request with the same idempotency key got this answer.",
    schema: { type: "string", const: "true" },
  },
  MissingClusters: {
    description: "Clusters that could not be asked, separated by commas; absent when the list is whole.",
    schema: { type: "string" },
  },
  WwwAuthenticate: { description: "With 401: how to say who asks.", schema: { type: "string" } },
};

const HEADER_NAMES = {
  CorrelationId: HEADERS.correlationId,
  TotalCount: HEADERS.totalCount,
  NextPageToken: HEADERS.nextPageToken,
  ETag: HEADERS.etag,
  RetryAfter: HEADERS.retryAfter,
  Location: HEADERS.location,
  ContentLocation: HEADERS.contentLocation,
  IdempotencyReplayed: HEADERS.idempotencyReplayed,
  MissingClusters: HEADERS.missingClusters,
  WwwAuthenticate: "www-authenticate",
} as const satisfies Record<keyof typeof RESPONSE_HEADERS, string>;

/** The name on the wire of a response header of this document. */
export function headerName(name: keyof typeof RESPONSE_HEADERS): string {
  return HEADER_NAMES[name];
}

/** What is answered without a document of its own. */
export const RESPONSES = {
  NotModified: {
    description: "It is as it was when the ETag of `if-none-match` was read.",
    headers: {
      [HEADERS.correlationId]: { $ref: "#/components/headers/CorrelationId" },
      [HEADERS.etag]: { $ref: "#/components/headers/ETag" },
    },
  },
  Problem: {
    description: "Refused. `kind` and `code` say what kind of refusal it is, `violations` every field that is wrong.",
    headers: {
      [HEADERS.correlationId]: { $ref: "#/components/headers/CorrelationId" },
      [HEADERS.retryAfter]: { $ref: "#/components/headers/RetryAfter" },
      [headerName("WwwAuthenticate")]: { $ref: "#/components/headers/WwwAuthenticate" },
    },
    content: { [PROBLEM_TYPE]: { schema: { $ref: "#/components/schemas/Problem" } } },
  },
};

/** How a caller proves who it is. */
export const SECURITY = {
  bearer: { type: "http", scheme: "bearer", description: "A token of this PM, or a JWT when an issuer is configured." },
};
